/**
 * The words by which people acknowledge, ask, correct, add and withdraw, in one language. Each text is a list
 * of words; a phrase is joined by `_`, and a trailing `*` stands for any ending.
 */
export interface UserWords {
  /** Other frequent words, which only tell the language. */
  common: string
  /** Thanks, praise, greetings and fillers; they say nothing about the errand. */
  said: string
  /** Phrases that ask to go on with the same work. */
  goOn: string
  /** How a question begins. */
  asks: string
  /** How a request in the form of a question begins. */
  mayYou: string
  /** How a statement begins. */
  states: string
  /** The verbs that make one. */
  reports: string
  /** What makes a request of any words: please, need, should. */
  wants: string
  /** Verbs that begin a request. */
  does: string
  /** What makes a correction of a request, or of words that begin with it. */
  refines: string
  /** What joins two requests in one sentence. */
  ands: string
  /** What corrects or limits in any sentence. */
  limits: string
  /** What adds to it. */
  adds: string
  /** What sounds like a withdrawal and is none, such as "don't forget". */
  keeps: string
  /** What withdraws it, if another request follows. */
  drops: string
  /** What withdraws it only beside a word of `limits` such as "instead". */
  stops: string
  /** What withdraws it by itself. */
  anew: string
}

/** The tables of languages that put spaces between words, by language. English wins a tie. */
export const spacedWords: Readonly<Record<string, UserWords>> = {
  en: {
    common:
      'the my our your his her their a an these those of to in on at for with by from and or not be as if then there it you',
    said: 'ok okay okey k kk yes yeah yep yup ya sure fine right alright thanks thank thx ty you cheers great good nice cool perfect awesome excellent fantastic wonderful lovely amazing brilliant neat sweet super superb wow oh ooh ah ahh aha haha lol omg hm hmm hmmm mm well so um uh hi hello hey there morning sorry please pls just agreed approved understood noted exactly correct indeed lgtm looks_good looks_great sounds_good sounds_great sounds_fine makes_sense got_it well_done good_job nice_work great_work good_work job catch no_worries no_problem no_rush take_your_time a_lot so_much very_much so_far that_is_quite_all_right all_good not_bad to_me for_that for_this of_course guys man mate dear team again next_one too_long too_short too_big too_small too_slow too_much too_many too_complicated too_formal too_late too_early too_expensive very_good very_nice legend ta hero nice_catch ugh what_a_relief',
    goOn: 'go_on go_ahead carry_on keep_going keep_at_it keep_it_up keep_working keep_up continue proceed resume do_that do_so next_one hurry hurry_up come_on faster_please go speed_this_up_a_bit speed_it_up_a_bit do_it',
    asks: 'what why how when where which who whose whom is are am was were do does did has have had isnt arent didnt doesnt any anything will would should could can may might status nearly still_there whats hows wheres whos you_still are_you since_when still',
    mayYou:
      'can_you could_you would_you will_you can_we could_we shall_we can_i could_i may_i would_it_be_possible is_it_possible_to do_you_mind would_you_mind how_about_we how_about_using what_about_adding why_not why_dont_you why_dont_we could_my could_our can_my can_our mind',
    states:
      'i im ive ill id_be we weve he she they theyre it its that thats this there theres everything everyone somebody someone nobody all already just_merged back from',
    reports:
      'is are was were has have had looks works worked passed passes failed fails finished done merged still arrived isnt arent wasnt doesnt dont_care came fixed got goes went said says seems sent',
    wants:
      'please pls plz need needs want wants would_like id_like id_prefer i_prefer should must has_to have_to needs_to make_sure dont_forget lets let_us be_sure ensure remember id_rather priority ill_need dont do_not never',
    does: 'add adjust align analyse analyze apply archive arrange ask assign attach avoid backup bake block book bring build bump buy calculate call cancel change charge check choose clean clear close collect combine commit compare compile compute configure confirm connect contact convert copy correct count cover crack create crop cut debug delete deploy describe design disable discuss display do document double download draft draw drop dry edit email enable escalate estimate evaluate exclude execute expand explain export extend extract fetch figure file fill filter find finish fix flag focus follow format forward generate get give grab group handle have help hide highlight hold import improve include increase inform insert inspect install integrate interview invite invoice investigate issue keep label launch lay leave limit link list localise localize log look lower mail make map mark measure mention merge message migrate mock monitor move name notify offer open order organise organize pack paint patch pay phone pick pin ping place plan plot polish post prepare print prioritise prioritize produce profile propose prove publish pull push put query quote raise rank read rebase rebuild record redo reduce refactor refresh refund register reject release remind remove rename render renew reorder repair repeat replace reply report request rerun research reschedule reserve reset resize resolve restart restore retry return reverse revert review rewrite roll rotate round run save say scan schedule search see select sell send separate set settle ship shorten show shrink sign simplify sketch skip solve sort source speed split stage start state stick stop store strip submit subtract suggest sum summarise summarize swap switch sync tag take talk tell test throw tidy tighten toggle touch track train transfer translate treat trim try turn tweak type undo unify uninstall unlock update upgrade upload use validate verify version visit walk warn wash watch water wire wrap write zip same_for same_thing_for same_swap_for do_the_same back_up work',
    refines:
      'instead rather not no dont do_not never only just without within unless except but actually keep use make_it make_them make_sure shorter longer bigger smaller simpler cheaper earlier later shorten cut skip stick avoid limit careful wait at_most at_least max maximum min minimum no_more_than less_than more_than up_to must should has_to have_to needs_to prefer id_prefer in_german in_english in_french in_spanish in_italian in_dutch in_chinese in_japanese as_a_table remember meant i_mean formal informal tone leave_out leave_the change_it change_the_name the_rest say separate second_approach budget deadline with_two sign round sort it_should by_email both before_touching fine_too',
    adds: 'also too as_well additionally another one_more more_thing in_addition and_then then next after_that afterwards plus besides btw by_the_way while_you while_that while_at when_youre_done when_done once_done once_thats_done oh_and same_for same_thing same_swap do_the_same before_you_go_on i_also now',
    ands: 'and then',
    limits:
      'instead rather rather_than actually at_most at_least maximum no_more_than only budget deadline in_german in_english in_french in_spanish in_italian in_dutch in_chinese in_japanese anyway max not_before',
    keeps: 'dont_forget never_forget dont_stop dont_cancel dont_drop',
    drops:
      'forget forget_that forget_it scrap drop_it drop_that drop_this abandon disregard ignore_everything ignore_the_above ignore_my never_mind nevermind nvm leave_that leave_this leave_it put_that_aside put_this_aside put_that_on_hold put_this_on_hold park_that park_this park_it stop_that stop_this stop_it dont_need_that changed_my_mind instead_of_that on_second_thought screw_that pause_that pause_this toss_that forget_all',
    stops:
      'cancel stop dont_need no_longer_need not_needed hold_off skip_that drop_the forget_about',
    anew: 'new_task new_topic new_job new_errand new_request new_assignment new_plan different_task different_topic different_thing another_topic other_topic other_thing something_else_came something_else_has something_else_now do_something_else change_of_plan change_of_plans change_of_topic plans_have_changed plan_has_changed switch_to_the switch_over_to switch_topics work_on_the_following forget_everything start_over_with priority_is_now now_find now_find_my actually_forget new_priority priorities_changed',
  },
  de: {
    common:
      'das die der den dem des ein eine einen mein meine unser unsere und oder nicht von zu im am mit für auf bei aus an wie noch',
    said: 'ok okay ja jo jep klar gut super prima toll perfekt danke dankeschön vielen dank dir ihnen sehr passt so alles_klar alles stimmt genau richtig einverstanden verstanden sieht_gut_aus klingt_gut gute_arbeit gut_gemacht schön wunderbar klasse hallo hi moin guten_morgen guten_tag bitte hm hmm ach aha na also dann mal ruhig nochmal aus sieht kein_problem kein_stress nett',
    goOn: 'mach_weiter weiter weiter_so weitermachen machen_sie_weiter fahr_fort fahren_sie_fort nur_zu leg_los los beeil beeilung mach_ruhig_weiter mach_mal_weiter',
    asks: 'was warum wieso weshalb wie wann wo wer welche welcher welches wem wen ist sind war hast haben hat bist läuft gibt wird wirst geht woher wohin wieviel',
    mayYou:
      'kannst_du könntest_du können_sie könnten_sie würdest_du würden_sie magst_du kann_ich können_wir könnten_wir wärst_du kann_man könnte_man darf_ich',
    states: 'ich wir er sie es dies diese dieser',
    reports: 'ist sind war waren hat haben läuft funktioniert geht klappt unterschrieben fertig',
    wants:
      'bitte brauche brauchen möchte möchten will wollen soll sollen sollte sollten muss müssen vergiss_nicht denk_daran lass_uns hätte_gern hätte_gerne',
    does: 'füg* ergänz* erweiter* änder* mach* schreib* schick* send* prüf* such* find* bau* erstell* lösch* entfern* ruf* buch* plan* trag* les* lies nimm nehm* benutz* verwend* setz* stell* teste* kopier* verschieb* übersetz* fass* rechne* zeig* gib geb* hol* lad* öffne* schließ* start* stopp* deploy* commit* push* merge* aktualisier* korrigier* behalt* lass* kürz* sortier* schau* guck* kümmer* informier* bestell* reservier* storniere* vergleich* dokumentier* leg*',
    refines:
      'lieber statt stattdessen nicht kein keine keinen nein nur ohne höchstens mindestens maximal aber sondern doch eher kürzer länger kleiner größer auf_deutsch auf_englisch achtung vorsicht soll sollte muss behalt* nimm verwend* benutz* direkt bis_freitag formell per_mail außer meinte ausschließlich',
    adds: 'auch noch außerdem zusätzlich danach anschließend dann ebenfalls zudem dazu übrigens ebenso sobald_du',
    ands: 'und dann',
    limits:
      'statt stattdessen lieber höchstens mindestens maximal nur sondern auf_deutsch auf_englisch ausschließlich meinte ohne',
    keeps: 'vergiss_nicht',
    drops:
      'vergiss vergiss_das lass_das lass_es vergessen_sie hör_auf brich_das_ab verwirf streich_das egal schon_gut nicht_mehr_nötig leg_das_beiseite',
    stops: 'stopp brich_ab abbrechen nicht_mehr streich',
    anew: 'neue_aufgabe neuer_auftrag neues_thema anderes_thema planänderung andere_baustelle etwas_anderes was_anderes wir_machen_doch es_hat_sich_geändert kommando_zurück',
  },
  fr: {
    common:
      'ce le la les un une mon ma mes notre nos de du des et ou pas à au aux en dans sur pour avec par ne se y',
    said: 'ok oui ouais merci beaucoup super parfait parfaite génial bien très_bien bon bravo d_accord daccord entendu compris ça_marche ça_va c_est cest c est bonjour salut coucou nickel impeccable excellent top tout_bon exactement voilà boulot travail beau bien_vu vu ah oh bah hein alors donc tant_mieux pas_de_problème pas_de_souci non_plus',
    goOn: 'continue continuez vas_y allez_y poursuis poursuivez tu_peux_continuer vous_pouvez_continuer je_vous_laisse_finir je_te_laisse_finir dépêche',
    asks: 'pourquoi comment quand où qui que quoi quel quelle quels quelles combien est_ce as_tu avez_vous es_tu ça_avance qu_est',
    mayYou:
      'peux_tu pouvez_vous pourrais_tu pourriez_vous tu_peux tu_pourrais vous_pouvez vous_pourriez peut_on pourrait_on puis_je est_il_possible je_peux je_pourrais on_peut on_pourrait',
    states: 'je j nous il elle ils elles on ça cela',
    reports: 'est sont a ont était marche fonctionne',
    wants:
      's_il_te_plaît s_il_vous_plaît s_il_te_plait s_il_vous_plait stp svp besoin veux voudrais voulons doit doivent devrait faut faudrait n_oublie n_oubliez aimerais',
    does: 'ajout* chang* modifi* corrig* supprim* retir* envoi* envoy* écri* rédig* met mets mettez fais faites cherch* trouv* vérifi* regard* test* lanc* crée créez prépar* tradui* résum* utilis* prend* prenez réserv* appell* compar* déplo* pouss* gard* laiss* rempl* calcul* list* montr* donn* explique* planifi* command* inclu*',
    refines:
      'plutôt pas non seulement uniquement sans au_lieu mais sauf plus_court plus_courte moins max maximum minimum en_français en_anglais attention doit utilis* gard* limit* évite* pas_plus au_plus mets_le mets_la',
    adds: 'aussi également encore en_plus ensuite puis après de_plus par_ailleurs au_passage quand_tu_auras_fini',
    ands: 'et puis',
    limits:
      'plutôt au_lieu seulement uniquement au_plus pas_plus maximum minimum en_français en_anglais sans sauf',
    keeps: 'n_oublie n_oubliez',
    drops:
      'oublie oubliez oublie_ça laisse_tomber laissez_tomber laisse_ça abandonne finalement tant_pis',
    stops: 'annule annulez arrête arrêtez stop plus_besoin',
    anew: 'nouvelle_tâche nouvelle_mission nouveau_sujet autre_chose autre_sujet changement_de_plan changement_de_programme j_ai_changé_d_avis',
  },
  es: {
    common:
      'el la los las lo un una mi mis nuestro nuestra este esta de del y o no a al en con por para que se le más',
    said: 'ok sí si vale gracias muchas genial perfecto perfecta bien muy_bien bueno buena excelente estupendo claro de_acuerdo entendido hola buenos_días buen_trabajo trabajo qué_bien exacto correcto por_favor favor muy pues ah oh listo dale azul ya_veo veo gran ya',
    goOn: 'sigue siga sigue_así continúa continua continúe adelante procede prosigue date_prisa apúrate',
    asks: 'qué por_qué cómo cuándo dónde quién cuál cuáles cuánto cuánta cuántos cuántas has está están es hay',
    mayYou: 'puedes podrías puede podría pueden podemos podríamos puedo me_puedes te_importa',
    states: 'yo nosotros él ella ellos esto eso ya me',
    reports: 'es son está están fue ha han funciona sería',
    wants:
      'por_favor necesito necesitamos quiero queremos quisiera debe deben debería tiene_que tienen_que hay_que no_olvides asegúrate me_gustaría que_sea',
    does: 'añad* agreg* cambi* modific* corrig* corrij* borr* elimin* quit* envía* envia* mand* mánd* escrib* pon ponlo ponla haz hazlo busc* encuentr* revis* mir* prueb* prob* ejecut* crea cree prepar* traduc* resum* us* utiliz* reserv* llam* compar* despleg* sub* guard* dej* calcul* list* muestr* explic* planific* incluy* actualiz* consult*',
    refines:
      'mejor no solo sólo solamente sin en_vez en_lugar pero excepto salvo más_corto más_corta máximo mínimo como_mucho en_español en_inglés cuidado debe que_sea us* utiliz* únicamente sino evita*',
    adds: 'también además luego después otra_cosa una_cosa_más por_cierto de_paso cuando_termines asimismo ahora',
    ands: 'y luego',
    limits:
      'mejor en_vez en_lugar solo sólo solamente únicamente máximo mínimo como_mucho en_español en_inglés sin sino que_sea',
    keeps: 'no_olvides no_te_olvides',
    drops: 'olvida olvídalo olvídate olvide deja_eso déjalo abandona ni_caso descarta',
    stops: 'cancela anula para detente ya_no',
    anew: 'nueva_tarea nuevo_encargo otro_tema otra_tarea cambio_de_planes cambio_de_plan cambié_de_opinión',
  },
  pt: {
    common:
      'o a os as um uma meu minha nosso nossa de do da dos das e ou não em no na com por para que se mais ao à',
    said: 'ok sim obrigado obrigada valeu ótimo otimo ótima perfeito perfeita bom boa muito_bem bem beleza certo tudo_certo tudo_bem combinado entendi legal show ficou_ótimo ficou_bom ficou_perfeito ficou olá oi bom_dia bom_trabalho trabalho excelente exato isso_mesmo isso por_favor favor muito',
    goOn: 'continue continua pode_continuar segue siga prossiga prossegue vai_em_frente em_frente pode_seguir manda_ver depressa',
    asks: 'por_que porque como quando onde quem qual quais quanto quanta quantos quantas o_que está há já',
    mayYou:
      'pode_também você_pode você_poderia poderia podes podias pode_me consegue dá_para podemos poderíamos posso será_que',
    states: 'eu nós ele ela eles elas isto isso',
    reports: 'é são está estão foi tem funciona',
    wants:
      'por_favor preciso precisamos quero queremos queria gostaria deve devem deveria tem_que têm_que não_esqueça não_se_esqueça certifique',
    does: 'adicion* acrescent* mud* alter* corrij* corrig* apag* remov* tir* envi* mand* escrev* ponha coloqu* coloc* faz faça busqu* procur* ach* revis* veja verifi* test* execut* crie cria prepar* traduz* resum* us* utiliz* reserv* lig* compar* publi* guard* deix* calcul* list* mostr* expli* planej* inclu* atualiz* olh* tira',
    refines:
      'melhor não nao só somente apenas sem em_vez ao_invés mas exceto mais_curto mais_curta máximo mínimo no_máximo em_português em_inglês cuidado deve us* utiliz* em_vez_disso evite',
    adds: 'também além depois mais_uma_coisa aliás quando_terminar em_seguida agora ainda',
    ands: 'e depois',
    limits:
      'em_vez ao_invés em_vez_disso só somente apenas no_máximo máximo em_português em_inglês sem',
    keeps: 'não_esqueça não_se_esqueça',
    drops: 'esqueça esquece esqueça_isso esquece_isso deixa_isso deixa_pra_lá abandone descarte',
    stops: 'cancela cancele anule para pare não_precisa_mais',
    anew: 'nova_tarefa novo_pedido outro_assunto outra_coisa outra_tarefa mudança_de_planos mudança_de_plano mudei_de_ideia',
  },
  it: {
    common:
      'il lo la i gli le un una mio mia nostro nostra di del della dei e o non a al in con per da che si più nel',
    said: 'ok sì si grazie mille perfetto perfetta ottimo ottima bene benissimo va_bene bravo brava buono buona d_accord daccordo d_accordo capito chiaro certo esatto giusto ciao salve buongiorno ottimo_lavoro bel_lavoro lavoro fantastico per_favore favore pure molto splendido',
    goOn: 'vai_avanti continua continui procedi proceda avanti prosegui va_avanti sbrigati',
    asks: 'perché come quando dove chi che cosa quale quali quanto quanta quanti quante è sono hai ha a_che',
    mayYou:
      'puoi potresti può potrebbe potete possiamo potremmo posso ti_dispiace mi_fa mi_fai mi_puoi si_può',
    states: 'io noi lui lei loro questo questa quello quella',
    reports: 'è sono era ha hanno funziona',
    wants:
      'per_favore per_cortesia bisogno serve servono voglio vogliamo vorrei deve devono dovrebbe bisogna non_dimenticare assicurati',
    does: 'aggiung* cambia modific* corregg* cancell* elimin* togli rimuov* invia mand* scriv* metti fai cerca trov* controll* guard* prov* esegui crea prepar* traduc* riassum* us* utilizz* prenot* chiam* confront* pubblic* lascia tieni calcol* elenc* mostr* spieg* pianific* includ* aggiorn*',
    refines:
      'meglio invece no non solo soltanto senza anziché ma tranne più_breve più_corto più_corta massimo minimo al_massimo in_italiano in_inglese attenzione deve us* utilizz* evita piuttosto',
    adds: 'anche inoltre poi dopo un_altra_cosa ancora già_che_ci_sei quando_hai_finito pure adesso',
    ands: 'e poi',
    limits:
      'invece anziché piuttosto solo soltanto al_massimo massimo in_italiano in_inglese senza più_breve più_corto',
    keeps: 'non_dimenticare',
    drops: 'dimentica lascia_perdere lascia_stare lasci_perdere abbandona',
    stops: 'annulla fermati ferma basta non_serve_più',
    anew: 'nuovo_compito nuova_attività nuovo_incarico altro_argomento altra_cosa cambio_di_programma cambio_di_piani ho_cambiato_idea',
  },
  nl: {
    common: 'de het een mijn onze ons van en of niet in op aan voor met bij naar te om er nog',
    said: 'ok oké ja prima goed top mooi bedankt dank je wel u dankjewel dank_je_wel ziet_er_goed_uit klinkt_goed ziet er uit perfect geweldig klopt precies duidelijk begrepen akkoord hallo hoi goedemorgen goed_gedaan fijn alsjeblieft graag maar gewoon super',
    goOn: 'ga_door ga_maar_door ga_verder doorgaan ga_je_gang verder schiet_op',
    asks: 'wat waarom hoe wanneer waar wie welke welk is zijn heb heeft ben duurt',
    mayYou: 'kun_je kan_je kunt_u kunnen_we zou_je zou_u wil_je wilt_u kan_ik mag_ik',
    states: 'ik wij we hij zij ze het dat dit',
    reports: 'is zijn was waren heeft hebben werkt lukt klaar',
    wants:
      'alsjeblieft alstublieft graag nodig wil willen moet moeten zou_graag vergeet_niet zorg_dat laten_we',
    does: 'voeg maak schrijf stuur zoek vind controleer check bouw verwijder bel boek plan lees neem gebruik zet test kopieer verplaats vertaal vat bereken toon geef haal open sluit start stop deploy commit push werk pas houd laat kort sorteer kijk regel bestel reserveer vergelijk documenteer verander wijzig pak',
    refines:
      'liever niet geen nee alleen enkel zonder in_plaats hoogstens minstens maximaal maar behalve korter langer in_het_nederlands in_het_engels let_op pas_op moet gebruik',
    adds: 'ook nog daarnaast bovendien daarna vervolgens trouwens tevens als_je_klaar_bent',
    ands: 'en dan',
    limits:
      'liever in_plaats alleen enkel hoogstens minstens maximaal in_het_nederlands in_het_engels zonder',
    keeps: 'vergeet_niet',
    drops: 'vergeet vergeet_dat laat_maar laat_dat stop_daarmee laat_zitten',
    stops: 'annuleer hoeft_niet_meer niet_meer_nodig',
    anew: 'nieuwe_taak nieuwe_opdracht ander_onderwerp iets_anders wijziging_van_plan verandering_van_plan andere_taak',
  },
  pl: {
    common: 'mój moja nasz nasza i a w z na do o od po że się nie dla przy',
    said: 'ok tak dobra dobrze super świetnie świetna dzięki dziękuję dziekuje bardzo jasne zgoda rozumiem idealnie doskonale pięknie brawo cześć hej dzień_dobry dobra_robota robota spoko proszę no wygląda wygląda_dobrze',
    goOn: 'kontynuuj dalej tak_trzymaj działaj śmiało jedź_dalej rób_dalej pospiesz',
    asks: 'co czemu dlaczego jak kiedy gdzie kto który która które ile czy jest',
    mayYou: 'możesz mógłbyś mogłabyś czy_możesz czy_mógłbyś możemy czy_możemy mogę',
    states: 'ja my on ona oni to ten ta te',
    reports: 'jest są był była ma mają działa',
    wants:
      'proszę potrzebuję potrzebujemy chcę chcemy chciałbym chciałabym musi muszą powinien powinna powinno trzeba nie_zapomnij upewnij',
    does: 'dodaj zmień popraw usuń wyślij napisz zrób sprawdź znajdź szukaj poszukaj zobacz przetestuj uruchom stwórz utwórz przygotuj przetłumacz podsumuj użyj weź zarezerwuj zadzwoń porównaj wdróż zostaw oblicz policz pokaż wyjaśnij zaplanuj zamów zaktualizuj dołącz ustaw skróć',
    refines:
      'raczej zamiast nie tylko jedynie bez ale oprócz krócej krótszy krótsze maksymalnie najwyżej co_najmniej po_polsku po_angielsku uwaga ostrożnie musi użyj lepiej',
    adds: 'też także również jeszcze ponadto potem następnie przy_okazji dodatkowo a_potem jak_skończysz teraz',
    ands: 'i a',
    limits:
      'raczej zamiast tylko jedynie maksymalnie najwyżej co_najmniej po_polsku po_angielsku bez lepiej',
    keeps: 'nie_zapomnij',
    drops: 'zapomnij nieważne zostaw_to rzuć_to daj_spokój',
    stops: 'anuluj przerwij stop już_nie',
    anew: 'nowe_zadanie nowy_temat inny_temat inna_sprawa coś_innego zmiana_planów zmiana_planu zmieniłem_zdanie',
  },
  tr: {
    common: 'benim bizim ve bir bu şu için ile de da mi daha çok',
    said: 'tamam evet peki olur teşekkürler teşekkür ederim sağ_ol sağol harika güzel süper mükemmel çok iyi anladım doğru merhaba selam lütfen eline_sağlık aferin bravo tabii elbette oldu çok_iyi',
    goOn: 'devam devam_et devam_edin devam_edebilirsin sürdür acele_et hadi',
    asks: 'ne neden niye niçin nasıl nerede kim hangi kaç mi mı mu mü ne_zaman',
    mayYou:
      'yapabilir_misin edebilir_misin bakabilir_misin ekleyebilir_misin gönderebilir_misin yazabilir_misin',
    states: 'ben biz o bu şu',
    reports: 'var yok oldu çalışıyor bitti',
    wants: 'lütfen lazım gerek gerekiyor istiyorum istiyoruz olmalı unutma olsun',
    does: 'ekle ekleyin yaz yazın gönder gönderin yap yapın bul bulun bak bakın kontrol düzelt değiştir sil kaldır kullan kullanın oluştur hazırla çevir özetle ara karşılaştır güncelle aç kapat başlat göster hesapla planla çalıştır incele',
    refines:
      'hayır değil yerine sadece yalnızca olmadan hariç ama daha en_fazla en_az türkçe ingilizce dikkat kullan kısa',
    adds: 'da de ayrıca bir_de hem sonra ardından üstelik',
    ands: 've',
    limits: 'yerine sadece yalnızca en_fazla en_az türkçe ingilizce hariç',
    keeps: 'unutma',
    drops: 'boş_ver boşver unut vazgeç vazgeçtim vazgeçtik',
    stops: 'iptal bırak dur',
    anew: 'yeni_görev yeni_konu başka_konu başka_bir_şey plan_değişti plan_değişikliği fikrimi_değiştirdim',
  },
  sv: {
    common: 'det den en ett de som och eller inte i på till för med av är att om jag du vi så',
    said: 'ok okej ja jo tack tackar bra jättebra toppen perfekt snyggt fint strålande jobbat bra_jobbat det_ser_bra_ut ser_bra_ut stämmer precis hej snälla gärna tyvärr härligt ingen_fara självklart',
    goOn: 'fortsätt fortsätt_så kör_på kör_vidare gå_vidare skynda',
    asks: 'vad varför hur när var vem vilken vilket vilka är har kan ska går finns',
    mayYou: 'kan_du skulle_du kunde_du vill_du kan_vi kan_jag får_jag',
    states: 'jag vi han hon de det den',
    reports: 'är var har hade fungerar klart klar',
    wants: 'snälla behöver vill ska måste borde glöm_inte se_till',
    does: 'lägg ändra gör skriv skicka kolla leta hitta bygg skapa ta radera ring boka planera läs använd sätt testa kopiera flytta översätt sammanfatta räkna visa ge hämta öppna stäng starta stoppa uppdatera fixa rätta jämför inkludera',
    refines:
      'hellre istället inte nej bara endast utan men utom kortare längre på_svenska på_engelska måste använd behåll',
    ands: 'och',
    limits: 'hellre istället bara endast högst minst max på_svenska på_engelska utan',
    adds: 'också även dessutom sedan därefter sen till förresten',
    keeps: 'glöm_inte',
    drops: 'glöm glöm_det strunta strunta_i_det skit_i_det lämna_det',
    stops: 'avbryt stopp behövs_inte',
    anew: 'ny_uppgift nytt_uppdrag annat_ämne något_annat ändrade_planer ny_plan',
  },
  ru: {
    common: 'мой моя наш наша и а в с на к о от по что не для у',
    said: 'ок окей да ага хорошо ладно отлично супер спасибо большое прекрасно здорово класс круто замечательно понял поняла понятно согласен согласна верно точно молодец идеально привет здравствуйте добрый_день пожалуйста ну так хорошая_работа',
    goOn: 'продолжай продолжайте дальше давай_дальше давай продолжим вперёд вперед действуй поторопись',
    asks: 'что почему зачем как когда где кто какой какая какие сколько долго ли готово',
    mayYou: 'можешь можете мог_бы могла_бы могли_бы можно не_мог_бы',
    states: 'я мы он она они это этот эта всё все',
    reports: 'есть был была было были работает готово',
    wants:
      'пожалуйста нужно нужна нужен нужны надо хочу хотим хотел_бы хотела_бы должен должна должно должны не_забудь убедись',
    does: 'добавь добавьте измени исправь удали отправь отправьте напиши напишите сделай сделайте проверь найди посмотри поищи запусти создай подготовь переведи суммируй используй возьми забронируй позвони сравни выложи закоммить оставь посчитай покажи объясни запланируй закажи обнови включи поставь сократи',
    refines:
      'лучше вместо не нет только лишь без но кроме короче покороче максимум минимум не_больше не_более на_русском на_английском по_русски осторожно внимание используй должен должно',
    adds: 'тоже также ещё еще кроме_того потом затем заодно кстати а_также когда_закончишь теперь',
    ands: 'и а',
    limits:
      'лучше вместо только лишь максимум не_больше не_более на_русском на_английском по_русски без',
    keeps: 'не_забудь не_забудьте',
    drops: 'забудь забудьте оставь_это брось отставить неважно',
    stops: 'отмена отмени стоп хватит больше_не',
    anew: 'новая_задача новое_задание другая_тема другое_дело планы_изменились смена_планов я_передумал я_передумала',
  },
  ar: {
    common: 'في من على إلى عن مع و أن',
    said: 'نعم حسنا حسنًا شكرا شكرًا جزيلا ممتاز رائع جيد جدا تمام أحسنت موافق فهمت مرحبا السلام_عليكم من_فضلك لو_سمحت طيب عظيم',
    goOn: 'استمر تابع واصل أكمل تفضل',
    asks: 'لماذا ماذا ما كيف متى أين من أي كم هل',
    mayYou: 'هل_يمكنك هل_بإمكانك هل_تستطيع ممكن',
    states: 'أنا نحن هو هي هم هذا هذه ذلك',
    reports: 'كان كانت',
    wants: 'من_فضلك رجاء أحتاج نحتاج أريد نريد يجب لا_تنس تأكد لو_سمحت',
    does: 'أضف وأضف غير عدل صحح احذف أرسل اكتب افعل ابحث افحص راجع شغل أنشئ جهز ترجم لخص استخدم خذ احجز اتصل قارن انشر اترك احسب اعرض اشرح خطط حدث وحدث انظر وانظر اختبر',
    refines:
      'لا بدلا بدل فقط بدون دون لكن إلا أقصر أقصى ليس بالعربية بالإنجليزية احذر استخدم الأفضل',
    adds: 'أيضا أيضًا كذلك ثم بعد_ذلك إضافة',
    ands: 'و ثم',
    limits: 'بدلا بدل فقط بدون بالعربية بالإنجليزية أقصى',
    keeps: 'لا_تنس',
    drops: 'انس انسى اترك_ذلك دعك دع_ذلك لا_داعي',
    stops: 'ألغ الغ توقف',
    anew: 'مهمة_جديدة موضوع_آخر شيء_آخر تغيير_في_الخطة تغيرت_الخطة',
  },
  hi: {
    common: 'मेरा हमारा का की के में से को पर और ने',
    said: 'ठीक है ठीक_है हाँ हां जी अच्छा बहुत बढ़िया शानदार धन्यवाद शुक्रिया सही समझ_गया समझ_गई नमस्ते कृपया वाह एकदम ओके',
    goOn: 'आगे_बढ़ो जारी_रखो जारी_रखें जारी_रखिए चलते_रहो आगे_बढ़ें करते_रहो',
    asks: 'क्या क्यों कैसे कब कहाँ कौन कितना कितनी कितने किस',
    mayYou: 'क्या_आप क्या_तुम सकते_हो सकते_हैं सकती_हो',
    states: 'मैं हम वह वे यह ये',
    reports: 'था थी गया है हैं',
    wants: 'कृपया चाहिए चाहता चाहती ज़रूरत जरूरत ज़रूरी मत_भूलना प्लीज़',
    does: 'जोड़ो जोड़ें लिखो लिखें लिखिए भेजो भेजें करो करें कर_दो कर_दीजिए बदलो बदलें हटाओ हटाएं देखो देखें ढूंढो खोजो बनाओ बनाएं जाँचो जांचो चलाओ बताओ अनुवाद',
    refines: 'नहीं बजाय सिर्फ केवल बिना लेकिन छोटा मत हिंदी_में अंग्रेज़ी_में उपयोग ज़्यादा_नहीं',
    adds: 'भी इसके_अलावा फिर उसके_बाद साथ_में एक_और',
    ands: 'और',
    limits: 'बजाय सिर्फ केवल बिना हिंदी_में अंग्रेज़ी_में नहीं',
    keeps: 'मत_भूलना',
    drops: 'छोड़ो भूल_जाओ रहने_दो',
    stops: 'रद्द बंद_करो',
    anew: 'नया_काम नया_कार्य दूसरा_काम दूसरी_बात योजना_बदल',
  },
}

/** The tables of languages without spaces, or whose words change too much; matched anywhere in the text. */
export const unspacedWords: Readonly<Record<string, UserWords>> = {
  zh: {
    common: '',
    said: '好的 好吧 好 谢谢 多谢 感谢 辛苦了 没问题 可以 不错 很好 太好了 太棒了 完美 棒 对的 对 是的 是 嗯 行 明白 知道了 收到 了解 你好 您好 就这样 吧 了 啊 哦 厉害 很',
    goOn: '继续 接着做 接着 请继续 往下做 加油 快点 下一步',
    asks: '为什么 怎么 什么 多久 哪 几 吗 呢 谁 是不是 有没有 多少',
    mayYou: '能不能 可以帮 能帮 可不可以 麻烦 能否',
    states: '我 我们 这个 那个 他 她',
    reports: '已经 昨天 刚才',
    wants: '请 帮 需要 要 应该 必须 记得 别忘 想',
    does: '改 写 加 做 看 查 发 找 用 删 建 测 算 译 订 修 更新 整理 准备 部署 提交 比较 列 画 安排 处理 检查 生成',
    refines:
      '不对 不是 而是 不要 别 只 仅 用中文 用英文 短一点 长一点 简短 改成 换成 至少 最多 不超过 除了 注意 保留 中文 英文 用 应该',
    adds: '也 还 再 另外 此外 然后 接下来 顺便 同时 以及 加上 加一',
    ands: '',
    limits: '不对 不是 而是 不要 只要 只 用中文 用英文 改成 换成 至少 最多 不超过 短一点 长一点',
    keeps: '别忘 不要忘',
    drops: '算了 忘了 忘掉 别管 不用管 放弃',
    stops: '取消 停下 不需要 先放',
    anew: '新任务 新的任务 换个话题 换个任务 另一件事 计划有变 计划变了 改主意',
  },
  ja: {
    common: '',
    said: 'ありがとうございます ありがとう いいですね 了解です 了解しました 了解 わかりました 分かりました はい ええ うん 大丈夫です 大丈夫 完璧です 完璧 素晴らしい すばらしい すごい お疲れ様です お疲れさま よろしくお願いします よろしく こんにちは その調子で その調子 オーケー いい感じ です ね',
    goOn: '続けてください 続けて 続行 進めてください 進めて そのまま 急いで',
    asks: 'なぜ なに 何 どう いつ どこ 誰 どれ どの いくら ですか ますか でしょうか ましたか の？',
    mayYou: 'もらえますか いただけますか くれますか くださいますか できますか もらえる',
    states: '私 僕 これは それは 昨日 さっき',
    reports: 'もう',
    wants: 'ください お願い 欲しい ほしい 必要 べき して 忘れずに',
    does: '追加 変更 修正 直し 書い 送っ 作っ 調べ 見て 探し 確認 削除 翻訳 使っ 更新 テスト 比較 予約 計算 表示',
    refines:
      '違います 違う ではなく じゃなく だけ のみ せずに しないで なしで 日本語で 英語で 短く 以内 以下 まで 代わりに 注意 使って より',
    adds: 'も それと また さらに あと 次に その後 ついでに',
    ands: '',
    limits: '違います 違う ではなく じゃなく だけ のみ せずに 日本語で 英語で 代わりに 以内 以下',
    keeps: '忘れずに',
    drops: 'やっぱり 忘れて やめて もういい',
    stops: 'キャンセル 取り消し 中止',
    anew: '新しいタスク 新しい仕事 別の件 別件 話は変わ 予定変更 計画変更',
  },
  ko: {
    common: '',
    said: '네 예 응 좋아요 좋아 좋습니다 감사합니다 감사해요 고마워요 고마워 고맙습니다 알겠습니다 알겠어요 완벽해요 완벽 훌륭해요 잘했어요 수고하셨습니다 수고했어요 수고 안녕하세요 맞아요 괜찮아요 최고',
    goOn: '계속해 계속하세요 계속 진행해 진행하세요 빨리',
    asks: '왜 뭐 무엇 어떻게 언제 어디 누구 얼마나 까요 나요 인가요 습니까',
    mayYou: '줄 수 있 주실 수 있 해줄래 할 수 있',
    states: '저는 나는 우리는 이것은 어제 방금',
    reports: '이미',
    wants: '주세요 해줘 해 주 필요 해야 원해 바랍니다 부탁',
    does: '추가 변경 수정 작성 써 보내 찾아 확인 삭제 번역 만들 업데이트 테스트 비교 예약 계산 보여',
    refines: '아니 말고 만 대신 없이 하지 마 한국어로 영어로 짧게 이하 이내 최대 주의 사용',
    adds: '도 또 그리고 추가로 다음에 그다음 더불어',
    ands: '',
    limits: '말고 대신 한국어로 영어로 이내 이하',
    keeps: '잊지',
    drops: '잊어 됐어 관둬',
    stops: '취소 중단 그만',
    anew: '새 작업 새로운 작업 다른 일 다른 주제 계획이 바뀌 계획 변경',
  },
}
