/**
 * The words of one language of which whole acknowledgements are made. Each text is a list of words; a phrase is joined
 * by `_`. Those of `words.ts` count too.
 */
export interface AcknowledgementWords {
  /** Thanks, praise, consent and forms of address. */
  said?: string
  /** Phrases that ask to go on with the same work. */
  goOn: string
  /** Little words around both: politeness, "you can", "with it", "now". */
  softens: string
  /** Refusals that name nothing else. */
  no: string
}

/** By language; those that `words.ts` has a table of, and more that have only this. */
export const acknowledgementWords: Readonly<Record<string, AcknowledgementWords>> = {
  en: {
    said: 'mate mates folks pal chief champ friend cheers_mate ship lgtm sgtm thx tysm tnx thankyou goodo righto okie okie_dokie no_notes sounds_like_a_plan works_for_me fine_by_me im_happy im_happy_with_it happy_with_it',
    goOn: 'crack_on ship_it go_for_it push_on press_on move_on keep_on keep_on_going roll_on onward onwards fire_away full_steam_ahead work_away on_you_go do_your_thing have_at_it get_on_with_it lets_do_it lets_go make_it_so be_my_guest go_right_ahead send_it rock_on soldier_on plough_on you_may_go you_can_go off_you_go take_it_away',
    softens:
      'you can may could please pls now then just with it this that the rest to from here feel free and so as_is as_you_were as_before like_that like_this for_now on ahead further right_away at_your_own_pace',
    no: 'no nope nah no_no no_thanks no_thank_you naw',
  },
  de: {
    said: 'vielen_dank danke_sehr danke_schön besten_dank herzlichen_dank tausend_dank merci jawohl jawoll jup yep genau_so jau',
    goOn: 'mach_weiter macht_weiter mache_weiter weitermachen mach weiter fortfahren fahr_fort fahre_fort arbeite_weiter arbeiten_sie_weiter geh_weiter kannst_weitermachen leg_los legen_sie_los nur_weiter immer_weiter fahr fahren',
    softens:
      'du sie ihr kannst können könnt darfst dürfen damit so bitte mal einfach gerne gern ruhig nur jetzt dann doch und wie_bisher wie_gehabt dabei hier daran auch_so machen machst fort',
    no: 'nein nee ne nö nein_danke',
  },
  fr: {
    said: 'merci_beaucoup merci_bien mille_mercis un_grand_merci grand merci_à_toi merci_à_vous volontiers',
    goOn: 'continue continuez continuer poursuivre poursuis poursuivez avance avancez avancer fonce foncez on_continue on_y_va y_aller vas-y allez-y vas allez procède procédez procéder',
    softens:
      'tu vous peux pouvez bien sûr à y ainsi comme_ça comme_cela s_il_te_plaît s_il_vous_plaît s_il_te_plait s_il_vous_plait svp stp maintenant et donc avec_ça la_suite de cela ça sans_problème',
    no: 'non nan non_merci',
  },
  es: {
    said: 'muchas_gracias mil_gracias muchísimas gracias_a_ti de_lujo guay amigo amiga',
    goOn: 'sigue siga seguid sigan seguir continuar continúa continúe continuad continúen proceder procede proceda avanza avance avanzar seguimos adelante dale',
    softens:
      'tú usted puedes puede pueden podéis con ello eso esto así por_favor porfa ahora y entonces pues nomás no_más sin_problema nada cuando_quieras lo_demás de_acuerdo igual tranquilamente',
    no: 'no no_gracias no_no qué_va',
  },
  pt: {
    said: 'muito_obrigado muito_obrigada obrigadão brigado brigada agradecido agradecida cara',
    goOn: 'manda_bala continue continua continuar continuem prosseguir prossiga prossegue siga segue seguir avance avança avançar vai toca_em_frente bora pode_ir tocar em_frente adiante',
    softens:
      'você tu pode podes podem com isso isto assim por_favor se_faz_favor agora e então pois por_gentileza aí favor tranquilo à_vontade',
    no: 'não nao não_obrigado não_obrigada',
  },
  it: {
    said: 'grazie_mille mille_grazie molte_grazie tante_grazie grazie_tante ti_ringrazio la_ringrazio',
    goOn: 'continua continui continuare continuate procedi proceda procedere procedete prosegui proseguire prosegua avanti vai_avanti vada_avanti andare_avanti vai',
    softens:
      'tu lei puoi può potete pure così con questo ciò per_favore per_cortesia adesso ora e allora dunque tranquillamente quindi prego',
    no: 'no no_grazie',
  },
  nl: {
    said: 'hartelijk_dank heel_erg_bedankt heel_erg veel_dank dank_u_wel dank_u dank_je dankje merci thanks tof',
    goOn: 'ga_door ga_verder ga_zo_door ga_maar_door ga_maar_verder doorgaan verdergaan verder werk_door werk_verder ga_gerust_door ga_gerust_verder ga_maar je_gang',
    softens:
      'je jij u kunt kan mag rustig gewoon maar gerust zo ermee hiermee daarmee alsjeblieft alstublieft aub nu dan en even lekker door',
    no: 'nee nee_bedankt nee_dank_je',
  },
  sv: {
    said: 'tack_så_mycket tusen_tack tackar_så_mycket stort_tack',
    goOn: 'fortsätt fortsätta gå_vidare kör kör_på kör_vidare jobba_vidare jobba_på gå_på vidare',
    softens: 'du kan får så med det bara nu då och gärna på snälla där',
    no: 'nej nej_tack nä',
  },
  pl: {
    said: 'wielkie_dzięki wielkie bardzo_dziękuję dzięki_wielkie dziękuję_bardzo dzięki_bardzo spoko okej',
    goOn: 'działaj działaj_dalej działajcie kontynuuj kontynuujcie kontynuować kontynuujmy rób_dalej pracuj_dalej leć_dalej lecimy lecimy_dalej idź_dalej jedź jedźmy_dalej śmiało dalej naprzód ciągnij_dalej',
    softens: 'możesz możecie pan pani może proszę teraz tak to z_tym i więc już dalej sobie',
    no: 'nie nie_dziękuję',
  },
  tr: {
    said: 'çok_teşekkürler çok_teşekkür_ederim çok_sağ_ol eyvallah teşekkür_ederiz sağ_olun sağolun çok',
    goOn: 'devam devam_et devam_edin devam_edelim devam_edebilirsin devam_edebilirsiniz devam_edebilir sürdür sürdürebilirsin ilerle ilerleyebilirsin buyur buyurun',
    softens: 'sen siz böyle bu_şekilde lütfen şimdi ve o_zaman işine aynen öyle hadi böylece',
    no: 'hayır yok yo',
  },
  ru: {
    said: 'большое_спасибо спасибо_большое огромное_спасибо спасибо_огромное благодарю благодарим ок окей пасиб спс',
    goOn: 'продолжай продолжайте продолжать продолжаем работай_дальше работайте_дальше иди_дальше двигайся_дальше едем_дальше поехали вперёд вперед дальше делай_дальше валяй',
    softens:
      'ты вы можешь можете можно пожалуйста так и теперь тогда дальше же смело спокойно с_этим в_том_же_духе тоже_так',
    no: 'нет не_надо нет_спасибо неа',
  },
  ar: {
    said: 'شكرا_جزيلا شكرًا_جزيلًا شكرا_لك شكرًا_لك شكرا_كثيرا ألف_شكر أشكرك مشكور بارك_الله_فيك جزيلا جزيلًا لك كثيرا كثيرًا يا_صديقي أوكي حسنًا',
    goOn: 'استمر استمري استمروا تابع تابعي واصل واصلي أكمل أكملي تفضل امض امضِ الاستمرار المتابعة المواصلة الإكمال تستمر تتابع تواصل تكمل استمر_في_العمل واصل_العمل تابع_العمل أكمل_العمل',
    softens:
      'يمكنك بإمكانك تستطيع أن من_فضلك لو_سمحت رجاء رجاءً الآن هكذا بذلك في_ذلك على_هذا_النحو و إذا إذن',
    no: 'لا كلا لا_شكرا',
  },
  hi: {
    said: 'बहुत_धन्यवाद बहुत_बहुत_धन्यवाद बहुत_शुक्रिया आपका आपको तुम्हारा',
    goOn: 'आगे_बढ़ो आगे_बढ़िए आगे_बढ़ें आगे_बढ़ जारी_रखो जारी_रखें जारी_रखिए जारी_रख चलते_रहो चलते_रहिए करते_रहो करते_रहिए काम_जारी_रखो काम_जारी_रखें चालू_रखो',
    softens: 'आप तुम सकते_हो सकते_हैं सकती_हो सकती_हैं कृपया अब और तो ऐसे_ही इसी_तरह इसे काम प्लीज़ भई',
    no: 'नहीं ना जी_नहीं',
  },
  zh: {
    said: '谢谢 谢谢你 谢谢您 多谢 感谢 非常感谢 十分感谢 辛苦 辛苦了 好的 好 好呀 好嘞 好了 行 可以 没问题 嗯 对 太好了 很好 不错 谢啦 谢了 麻烦了',
    goOn: '继续 接着 接着做 接着来 往下 往下做 继续做 继续吧 干吧 做下去 进行 继续进行 继续下去 进行下去 继续工作 继续努力 开始吧 加油',
    softens:
      '你 您 请 就 可以 吧 了 啊 呢 哦 哈 的 这样 那 那就 那么 现在 去 来 按这样 就这样 这么 非常 十分 太 很 啦',
    no: '不 不用 不用了 不是 没有 不要 不了 不必',
  },
  ja: {
    said: 'ありがとう ありがとうございます ありがとうございました どうもありがとう どうも 了解 了解です 了解しました 承知しました かしこまりました はい ええ うん いいです いいですね いいね オッケー オーケー 大丈夫 大丈夫です 結構です 助かります 感謝します 本当に',
    goOn: '引き続き 続きを 続き 引き続きお願いします 続けて 続けてください 続けて下さい 続けていい 続けてもいい 続けていいです 続けてもらって大丈夫です 続行 続行して 続行してください 進めて 進めてください 進めて下さい 進めていい 進めていいです 先に進んで 先に進んでください その調子で お進みください そのまま このまま',
    softens:
      'どうぞ そのまま このまま 引き続き では じゃあ それでは です ます よ ね から で お願いします お願い 作業 作業を を よろしく 結構 構いません 次へ とても 本当に も',
    no: 'いいえ いや いえ 違います いらない 不要です',
  },
  ko: {
    said: '잘하고 잘하고있어요 잘했어요 감사합니다 감사해요 감사드립니다 고마워 고마워요 고맙습니다 정말 네 예 응 좋아 좋아요 좋습니다 알겠습니다 알겠어요 오케이 수고하세요 수고했어요 수고하셨습니다 훌륭합니다 대단히 매우',
    goOn: '계속 계속해 계속해요 계속하세요 계속하셔도 계속해도 계속해줘 계속해주세요 계속진행해 계속진행해주세요 계속진행하세요 진행해 진행해요 진행하세요 진행해주세요 진행해줘 계속가 계속가세요 진행하셔도 진행해도 이어서해 이어서해주세요 계속작업해 계속작업해주세요',
    softens:
      '이제 그럼 그러면 그대로 이대로 그냥 해 주세요 줘 하세요 됩니다 돼요 돼 좋습니다 편하게 부탁해 부탁해요 부탁드립니다 작업 작업을 정말 너무',
    no: '아니 아니요 아니오 아뇨',
  },
  da: {
    said: 'tak mange_tak tusind_tak super fint godt perfekt ja okay ok flot',
    goOn: 'fortsæt fortsætte kør_på kør_videre gå_videre arbejd_videre bare_fortsæt videre',
    softens: 'du kan må bare med det nu så og gerne venligst for_mig',
    no: 'nej nej_tak',
  },
  nb: {
    said: 'takk tusen_takk mange_takk fint flott bra perfekt supert ja ok takk_skal_du_ha',
    goOn: 'fortsett fortsette kjør_på kjør_videre gå_videre jobb_videre videre bare_fortsett',
    softens: 'du kan får bare med det nå så og gjerne vennligst da',
    no: 'nei nei_takk',
  },
  fi: {
    said: 'kiitos kiitti paljon kiitoksia hyvä hienoa loistavaa joo kyllä selvä ok mahtavaa tosi',
    goOn: 'jatka jatkakaa jatka_vain jatkaa anna_mennä eteenpäin jatka_vaan',
    softens: 'voit voitte nyt vain vaan ole_hyvä samaan_malliin ja sitten siitä',
    no: 'ei ei_kiitos',
  },
  cs: {
    said: 'děkuji děkuju díky moc mockrát dobře super skvělé výborně ano jo ok fajn jasně',
    goOn: 'pokračuj pokračujte pokračovat jen_tak_dál dál jeď_dál jdi_dál směle_do_toho do_toho',
    softens: 'můžeš můžete prosím teď tak v_tom s_tím a klidně dál jen',
    no: 'ne ne_díky ne_děkuji',
  },
  ro: {
    said: 'mulțumesc multumesc mersi mult frumos bine perfect da super ok grozav',
    goOn: 'continuă continua continuați continui mergi_mai_departe mai_departe dă_i_drumul înainte',
    softens: 'poți puteți să te_rog vă_rog acum așa cu_asta și tot',
    no: 'nu nu_mulțumesc',
  },
  hu: {
    said: 'köszönöm köszi köszönjük szépen nagyon rendben jó szuper tökéletes igen oké ok remek',
    goOn: 'folytasd folytassa folytathatod folytathatja csináld_tovább mehet menj_tovább tovább csak_így_tovább',
    softens: 'kérlek kérem most így és csak nyugodtan akkor',
    no: 'nem nem_köszönöm',
  },
  id: {
    said: 'terima_kasih makasih banyak oke ok baik bagus mantap sip ya siap',
    goOn: 'lanjut lanjutkan teruskan lanjut_saja lanjutkan_saja silakan_lanjut silakan_lanjutkan terus',
    softens: 'kamu anda bisa boleh silakan saja tolong sekarang dan ya dengan_itu seperti_itu',
    no: 'tidak nggak enggak bukan tidak_terima_kasih',
  },
  vi: {
    said: 'cảm_ơn cám_ơn nhiều bạn tốt tuyệt tuyệt_vời được rồi vâng ừ ok hay_lắm lắm',
    goOn: 'tiếp tiếp_tục tiếp_đi làm_tiếp cứ_tiếp_tục tiến_hành',
    softens: 'bạn có_thể cứ đi nhé nha hãy xin vui_lòng bây_giờ như_vậy thế và em anh',
    no: 'không không_cảm_ơn',
  },
  uk: {
    said: 'дякую спасибі дуже щиро добре чудово супер так гаразд окей ок клас велике',
    goOn: 'продовжуй продовжуйте продовжувати далі давай_далі вперед працюй_далі роби_далі',
    softens: 'ти ви можеш можете будь_ласка тепер і так тоді сміливо',
    no: 'ні не_треба ні_дякую',
  },
  el: {
    said: 'ευχαριστώ ευχαριστω πολύ πολυ τέλεια ωραία ναι οκ εντάξει μπράβο καλά',
    goOn: 'συνέχισε συνεχίστε συνέχισέ συνεχίσεις συνεχίσετε προχώρα προχώρησε προχωρήστε προχωρήσεις συνέχεια',
    softens: 'μπορείς μπορείτε να παρακαλώ τώρα έτσι και το σε_παρακαλώ',
    no: 'όχι οχι όχι_ευχαριστώ',
  },
  he: {
    said: 'תודה רבה מצוין מעולה סבבה כן טוב בסדר יופי אוקיי',
    goOn: 'תמשיך תמשיכי המשך המשיכי להמשיך תתקדם קדימה',
    softens: 'אתה את יכול יכולה אפשר בבקשה עכשיו ככה עם_זה לך',
    no: 'לא לא_תודה',
  },
  fa: {
    said: 'ممنون ممنونم متشکرم مرسی خیلی بسیار عالی خوب باشه بله آره سپاسگزارم',
    goOn: 'ادامه_بده ادامه_بدهید ادامه_دهید ادامه_دهی برو_جلو ادامه',
    softens: 'می_توانی می_توانید میتونی لطفا لطفاً حالا همینطور و بده',
    no: 'نه خیر نه_ممنون',
  },
}
