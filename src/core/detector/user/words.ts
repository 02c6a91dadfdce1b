/**
 * The words by which people acknowledge, ask, correct, add and withdraw, in one language. Each text is a list
 * of words; a phrase is joined by `_`, and a trailing `*` stands for any ending.
 */
export interface UserWords {
  /** Other frequent words, which only tell the language. */
  common: string
  /** Thanks, praise, greetings and fillers; they say nothing about the errand. */
  said: string
  /** How a clause begins that asks for nothing, though it may look like a request: "take your time", "no need to". */
  idle: string
  /** Phrases that ask to go on with the same work. */
  goOn: string
  /** How a question begins. */
  asks: string
  /** How a request in the form of a question begins. */
  mayYou: string
  /** How a statement begins. */
  states: string
  /** How a statement begins of what the user does, though it has words of a request. */
  own: string
  /** The verbs that make a statement; in a language without spaces, what ends one. */
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
  /** What adds only beside a verb: now, then. */
  whens: string
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
    idle: 'no_need dont_worry dont_stress dont_sweat dont_mind_me dont_feel dont_hate dont_panic dont_be_sorry dont_apologise dont_apologize dont_get_me_wrong dont_ask never_mind_me never_mind_that never_a never_better let_me_know let_us_know let_me_see_what let_me_think let_me_check let_me_look let_me_read let_me_test let_me_try let_me_ask let_me_get_back lets_see lets_hope lets_wait lets_pray lets_talk lets_leave_it_there lets_call_it_a_day keep_me_posted keep_me_updated keep_me_in_the_loop keep_us_posted keep_it_coming keep_up_the keep_your_hair keep_calm look_at_that look_at_this look_at_you look_at_him look_at_her look_at_it_go look_who take_your_time take_all_the_time take_the_time_you take_as_long take_as_much_time take_it_easy take_that take_five take_a_break take_a_rest take_care bear_with be_patient excuse forgive pardon see_you see_ya tell_me_about_it trust_me believe_me count_me_in make_yourself make_my_day made_my_day have_fun have_a_good have_a_nice have_a_great have_a_lovely enjoy get_well get_some_sleep get_some_rest put_like_that put_it_that_way cut_yourself cant_argue cant_complain cant_believe cant_wait you_dont_need_to_explain you_dont_have_to_explain you_dont_need_to_apologise you_dont_have_to_apologise you_dont_have_to_thank you_need_a_raise you_need_a_break you_should_be_proud you_shouldnt_have you_must_be you_deserve that_needs_no we_need_more_people i_want_to_thank i_wanted_to_thank i_need_to_digest i_need_coffee i_need_more_coffee i_need_a_coffee i_need_a_break i_need_a_minute i_need_a_moment thank_you thanks_for thanks_to thx_for ty_for cheers_for sorry_for sorry_about apologies congrats_on congratulations_on good_luck_with happy_to glad nice_to great_to good_to_see good_to_know good_to_hear no_rush no_hurry no_stress no_pressure no_worries no_problem no_problems no_panic no_complaints no_errors no_idea no_clue no_objections no_preference no_opinion no_questions no_further_questions no_comments no_news no_wonder no_doubt no_surprise no_longer_seeing no_longer_getting no_longer_see no_explanation not_that_i not_that_it not_worse not_bad not_a_problem not_an_issue not_a_blocker not_my_area not_my_department not_my_favourite not_sure_what_happened not_surprised not_urgent nothing_to_add nothing_from nothing_else_from nothing_in_the only_positive just_wanted_to_say just_checking just_saw just_read just_woke just_passing just_fyi just_the_usual just_kidding actually_not_bad actually_thats rather_impressive instead_of_crying too_good_to_be_true too_funny say_no_more do_whatever_you do_as_you do_what_you ask_away bring_it_on give_me_a_sec give_me_a_second give_me_a_minute give_me_a_moment give_me_five give_me_ten give_me_an_hour give_me_until hold_on_a hang_on_a hold_your_horses one_more_reason one_more_happy another_day another_great another_win another_happy then_all then_again next_stop_weekend also_good_to also_nice also_true also_fine ship_it_when leave_me_to_it leave_it_with_me leave_it_to_me leave_that_to_me thats_on_me that_should should_be_fine should_be_good should_be_ok should_be_enough should_work should_do must_have_been must_be_the as_you_like as_you_wish as_you_see_fit as_discussed as_expected as_planned as_agreed',
    said: 'ok okay okey k kk yes yeah yep yup ya sure fine right alright thanks thank thx ty you cheers great good nice cool perfect awesome excellent fantastic wonderful lovely amazing brilliant neat sweet super superb wow oh ooh ah ahh aha haha lol omg hm hmm hmmm mm well so um uh hi hello hey there morning sorry please pls just agreed approved understood noted exactly correct indeed lgtm looks_good looks_great sounds_good sounds_great sounds_fine makes_sense got_it well_done good_job nice_work great_work good_work job catch no_worries no_problem no_rush take_your_time a_lot so_much very_much so_far that_is_quite_all_right all_good not_bad to_me for_that for_this of_course guys man mate dear team again next_one too_long too_short too_big too_small too_slow too_much too_many too_complicated too_formal too_late too_early too_expensive very_good very_nice legend ta hero nice_catch ugh what_a_relief take_it_easy easy no_hurry no_stress no_pressure no_preference no_objections no_objection no_clue no_idea no_wonder no_drama no_surprise no_doubt no_changes_needed no_need no_harm_done not_a_problem not_an_issue not_yet not_bad_at_all not_sure not_surprised not_really not_that_i_know not_that_i_know_of not_at_all no_rush_at_all never_mind_me dont_worry dont_worry_about_it dont_worry_about_that dont_stress dont_sweat_it dont_mind_me dont_apologise dont_apologize give_me_a_sec give_me_a_second give_me_a_minute give_me_a_moment give_me_five_minutes give_me_ten_minutes give_me_an_hour hold_on hold_on_a_sec hold_on_a_second hang_on hang_on_a_sec bear_with_me one_moment one_sec one_second one_minute just_a_sec just_a_moment just_a_minute two_minutes see_you see_ya talk_later talk_soon talk_tomorrow talk_to_you talk_to_you_later talk_to_you_tomorrow look_at_that look_at_you let_me_know let_me_see let_me_think let_me_check let_me_look keep_me_posted keep_me_updated keep_me_in_the_loop keep_it_coming keep_up_the_good_work keep_up_the_great_work me_too same_here same_for_me should_be_fine should_be_ok should_be_good should_work should_be_enough should_be_it that_should_do that_should_do_it that_should_work that_should_be_fine that_should_be_enough say_no_more tell_me_about_it you_know_best your_call up_to_you good_luck happy_friday bye cya brb afk ttyl heh hehe hehehe huh whoa woah yay hooray hurray phew oops ouch yikes nope nah bless_you good_morning good_night good_evening you_bet roger copy_that thats_it thats_all exactly_right fair_enough be_patient bear_with_us excuse_me excuse_the_typos pardon_me forgive_me i_have_to_go i_have_to_run i_need_to_go i_need_to_run gotta_go gotta_run cant_complain cant_wait help_yourself let_us_know let_him_know_you_said count_me_in ask_away bring_it_on take_five take_a_break take_care have_fun have_a_good_one have_a_good_day have_a_nice_day have_a_nice_weekend have_a_good_weekend have_a_great_day enjoy_your_weekend enjoy get_well_soon good_to_know good_to_hear great_to_hear nice_to_know trust_me believe_me keep_your_hair_on cut_yourself_some_slack make_my_day dont_feel_rushed no_errors no_problems no_issues no_complaints no_comments no_comment no_further_questions no_questions no_remarks no_news no_regrets no_explanation_necessary no_explanation_needed no_apology_needed no_harm no_big_deal no_biggie no_matter not_urgent not_urgent_at_all not_now not_my_favourite not_my_area not_my_department nothing_to_add nothing_else nothing_from_me never_better never_mind_that please_forgive please_excuse please_accept_my forgive_my excuse_my bear_with_the pls_dont_hate_me dont_hate_me no_panic dont_panic congrats congratulations cheering hats_off bravo kudos props well_played nicely_done nicely beautifully impressive brill fab aye yea ye yo dude bro bruh sir boss buddy lmao rofl idk idc tbh imo fwiw ngl gg omw tysm tyty thank_you_kindly much_appreciated appreciated many_thanks as_discussed as_expected as_planned as_you_like as_you_wish as_agreed do_as_you_see_fit do_whatever_you_need do_what_you_think_is_best go_with_your_gut permission_granted consider_it_approved green_light understood_thanks noted_with_thanks thumbs_up two_thumbs_up big_thumbs_up yes_please please_do ok_no_issue all_is_well all_well you_too welcome you_are_welcome youre_welcome my_pleasure anytime any_time makes_sense_now count_on_me see_i_told_you told_you hear_hear true very_true so_true good_point good_idea good_question good_thinking good_stuff great_stuff nice_touch nice_find good_find great_find great_idea smart clever pretty gorgeous stunning beautiful love_it loving_it like_it i_love_it i_like_it all_set we_are_good were_good im_good that_helps that_explains_it that_explains_a_lot no_longer_a_problem still_good also_nice also_true also_good also_fine me_neither another_one_bites_the_dust',
    goOn: 'go_on go_ahead carry_on keep_going keep_at_it keep_it_up keep_working keep_up continue proceed resume do_that do_so next_one hurry hurry_up come_on faster_please go speed_this_up_a_bit speed_it_up_a_bit do_it',
    asks: 'what why how when where which who whose whom is are am was were do does did has have had isnt arent didnt doesnt any anything will would should could can may might status nearly still_there whats hows wheres whos you_still are_you since_when still',
    mayYou:
      'can_you could_you would_you will_you can_we could_we shall_we can_i could_i may_i would_it_be_possible is_it_possible_to do_you_mind would_you_mind how_about_we how_about_using what_about_adding why_not why_dont_you why_dont_we could_my could_our can_my can_our mind can_u could_u would_u can_ya',
    states:
      'i im ive ill id_be we weve he she they theyre it its that thats this there theres everything everyone somebody someone nobody all already just_merged back from youre you_are you_were you_have youve you_had he_is shes hes its_not thats_not that_was it_was got had been done found saw tried tested checked read_it opened uploaded received submitted installed merged forwarded asked told sent called confirmed approved added fixed pushed waiting looking checking running watching working reading testing both_are both_were id_have id_call id_say id_guess wed you_can_see you_can_tell you_can_count guess hope seems looks_like sounds_like feels_like sorry_for loved liked enjoyed played passed watched noticed learned forgot lost paid booked spent worked walked talked spoke met',
    own: 'never_been never_seen never_had never_heard never_thought never_knew never_tried never_used_to never_expected never_would never_was never_did i_have_to i_must i_should i_need_to_go i_need_to_leave i_need_to_run i_need_to_pick we_should_talk we_should_celebrate i_will i_can i_could i_would_have would_have should_have must_have must_be you_should_be_proud he_should_be_happy she_should_be_happy it_must_have_been it_must_be that_must_be that_must_have should_be_there should_be_in should_be_live we_have_to_live we_have_to_admit i_need_to_digest i_need_to_eat i_need_to_sleep i_need_to_catch i_need_a_break i_need_a_minute i_need_a_moment i_need_coffee i_need_more_coffee you_need_a you_deserve you_shouldnt_have you_dont_need_to_explain you_dont_need_to_apologise you_dont_have_to_explain i_want_to_thank i_want_to_say i_wanted_to we_wanted_to',
    reports:
      'is are was were has have had looks works worked passed passes failed fails finished done merged still arrived isnt arent wasnt doesnt dont_care came fixed got goes went said says seems sent seem took ran made gave found saw shows exists belongs wrote told asked called replied confirmed happened changed turned helped knew thought loved liked loves likes hates hated agrees agreed explains makes_sense explained noticed appeared appears started stopped broke breaks crashed runs loads opens compiles matches paid signed cant_be will_be would_be wont comes come imports import_s wants_it keeps_working',
    wants:
      'please pls plz need needs want wants would_like id_like id_prefer i_prefer should must has_to have_to needs_to make_sure dont_forget lets let_us be_sure ensure remember id_rather priority ill_need id_also_like id_also_want i_also_want i_also_need we_also_need kindly gimme',
    does: 'dont do_not never add adjust align analyse analyze apply archive arrange ask assign attach avoid backup bake block book bring build bump buy calculate call cancel change charge check choose clean clear close collect combine commit compare compile compute configure confirm connect contact convert copy correct count cover crack create crop cut debug delete deploy describe design disable discuss display do document double download draft draw drop dry edit email enable escalate estimate evaluate exclude execute expand explain export extend extract fetch figure file fill filter find finish fix flag focus follow format forward generate get give grab group handle have help hide highlight hold import improve include increase inform insert inspect install integrate interview invite invoice investigate issue keep label launch lay leave limit link list localise localize log look lower mail make map mark measure mention merge message migrate mock monitor move name notify offer open order organise organize pack paint patch pay phone pick pin ping place plan plot polish post prepare print prioritise prioritize produce profile propose prove publish pull push put query quote raise rank read rebase rebuild record redo reduce refactor refresh refund register reject release remind remove rename render renew reorder repair repeat replace reply report request rerun research reschedule reserve reset resize resolve restart restore retry return reverse revert review rewrite roll rotate round run save say scan schedule search see select sell send separate set settle ship shorten show shrink sign simplify sketch skip solve sort source speed split stage start state stick stop store strip submit subtract suggest sum summarise summarize swap switch sync tag take talk tell test throw tidy tighten toggle touch track train transfer translate treat trim try turn tweak type undo unify uninstall unlock update upgrade upload use validate verify version visit walk warn wash watch water wire wrap write zip same_for same_thing_for same_swap_for do_the_same back_up work abort accept acknowledge address advise aggregate announce answer append appeal apologise apologize approve authorise authorize backport benchmark bind blacklist bold bookmark border branch brief bundle cache capitalise capitalize capture carry cater centre center chase chart check_out classify clone code comment compress condense consolidate contain containerise crawl crosscheck customise customize decide decline default decouple dedupe define delay deliver demo deny deprecate derive detect determine diff direct disconnect dismiss dispatch dispute distribute divide drain drive drill duplicate elaborate embed enforce enter enumerate erase examine expire fact_check favour featured feed fine_tune flatten flush fold fork formulate gather go_over go_through gzip hash hire host hook identify illustrate implement index initialise initialize inline inquire instrument interpolate introduce invert isolate iterate join justify kick kick_off kill let_him let_her let_them let_the load lock memoize mirror model modify mount mute narrow negotiate normalise normalize note number omit onboard optimise optimize outline overwrite package page paginate parallelise parallelize parse pass paste pause persist phrase pivot plug point poll populate port preserve prevent prime process promote prompt proofread protect provide prune purge queue randomise rate reach reach_out rearrange recalculate recheck recompute reconcile recommend recreate redact redeploy redirect redraw reformat regenerate reindex reinstall relabel reload remap reopen reorganise reorganize replicate repost republish reroute rescale resend resubmit resume retest rethink retrain reuse revise revisit revoke reword rework rollback roll_out route sanitise sanitize scale scaffold scrape seed serialise serialize serve shard share shift sign_up silence simulate size slice slim smooth snapshot spell spin squash stagger stash stream structure style subscribe supply surface survey suspend tackle target template text throttle throw_in time title tokenise top transcribe transform trigger troubleshoot tune unblock uncomment underline unsubscribe vacuum wait_for warm weigh whitelist widen wipe withdraw work_on work_out wrap_up get_rid gimme look_into look_at dig_into follow_up set_up put_together bill cap hook_up',
    refines:
      'instead rather not no dont do_not never only just without within unless except but actually keep use make_it make_them make_sure shorter longer bigger smaller simpler cheaper earlier later shorten cut skip stick avoid limit careful wait at_most at_least max maximum min minimum no_more_than less_than more_than up_to must should has_to have_to needs_to prefer id_prefer in_german in_english in_french in_spanish in_italian in_dutch in_chinese in_japanese as_a_table remember meant i_mean formal informal tone leave_out leave_the change_it change_the_name the_rest say separate second_approach budget deadline with_two sign round sort it_should by_email both before_touching fine_too',
    adds: 'also too as_well additionally another one_more more_thing in_addition and_then then next after_that afterwards plus besides btw by_the_way while_you while_that while_at when_youre_done when_done once_done once_thats_done oh_and same_for same_thing same_swap do_the_same before_you_go_on i_also now furthermore moreover likewise',
    whens:
      'now then next after_that afterwards btw by_the_way before_you_go_on besides too_many too_much too_long too_late too_good too_funny',
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
    idle: 'lass_dir_zeit lass_dir_ruhig lassen_sie_sich_zeit nimm_dir_zeit nimm_dir_die_zeit nimm_dir_ruhig mach_dir_keinen mach_dir_keine mach_wie_du mach_ruhig keine_sorge keine_eile keine_ahnung keine_panik keine_einwände keine_fragen kein_problem kein_stress kein_grund danke_für danke_dass viel_spaß viel_erfolg schönen schönes gute_besserung sag_bescheid gib_bescheid gib_mir_kurz gib_mir_eine gib_mir_fünf schau_an schau_mal_an schaue_ich schau_ich lass_gut_sein lass_mich_kurz nicht_schlecht nicht_schlimm nicht_dringend nichts_zu auch_gut noch_nicht',
    said: 'ok okay ja jo jep klar gut super prima toll perfekt danke dankeschön vielen dank dir ihnen sehr passt so alles_klar alles stimmt genau richtig einverstanden verstanden sieht_gut_aus klingt_gut gute_arbeit gut_gemacht schön wunderbar klasse hallo hi moin guten_morgen guten_tag bitte hm hmm ach aha na also dann mal ruhig nochmal aus sieht kein_problem kein_stress nett keine_eile keine_hektik lass_dir_zeit lassen_sie_sich_zeit in_ruhe keine_sorge macht_nichts keine_ahnung kein_thema kein_ding von_mir_aus meinetwegen na_klar freut_mich gern gerne ach_so soso tja bis_gleich bis_später bis_morgen bis_dann mahlzeit schönen_feierabend haha krass wow hammer spitze danke_dir danke_schön top topp ich_auch noch_nicht auch_gut nicht_schlecht keine_einwände keine_fragen keine_fragen_mehr keine_anmerkungen keine_beschwerden keine_probleme kein_grund_zur_sorge keine_panik nur_keine_panik nichts_zu_meckern nichts_zu_ergänzen schau_an schau_mal_an sieh_an sag_ich_doch mach_dir_keinen_kopf mach_dir_keine_sorgen nimm_dir_zeit nimm_dir_die_zeit lass_gut_sein lass_mal_gut_sein geht_klar wie_du_meinst mach_wie_du_denkst wie_besprochen wie_erwartet wie_geplant stimmt_so gut_zu_wissen freut_mich_zu_hören dir_auch gleichfalls bitte_gern gern_geschehen so_ist_es eben geschafft sauber respekt chapeau',
    goOn: 'mach_weiter weiter weiter_so weitermachen machen_sie_weiter fahr_fort fahren_sie_fort nur_zu leg_los los beeil beeilung mach_ruhig_weiter mach_mal_weiter',
    asks: 'was warum wieso weshalb wie wann wo wer welche welcher welches wem wen ist sind war hast haben hat bist läuft gibt wird wirst geht woher wohin wieviel',
    mayYou:
      'kannst_du könntest_du können_sie könnten_sie würdest_du würden_sie magst_du kann_ich können_wir könnten_wir wärst_du kann_man könnte_man darf_ich',
    states:
      'ich wir er sie es dies diese dieser hab habe bin war wusste dachte schaue schau_ich schaue_ich melde seh sehe verstehe sitze komme_gleich mein unser jetzt_geht das_war das_ist das_wars jetzt_ist dann_ist dann_warte dann_bin dann_war das_stimmt doch_das nun_verstehe begreife liegt steht chef kunde',
    own: 'ich_muss ich_soll ich_werde ich_will_nur',
    reports:
      'ist sind war waren hat haben läuft funktioniert geht klappt unterschrieben fertig hatte hatten wurde wurden sieht gefällt passt stimmt klingt kam ging',
    wants:
      'bitte brauche brauchen möchte möchten will wollen soll sollen sollte sollten muss müssen vergiss_nicht denk_daran lass_uns hätte_gern hätte_gerne',
    does: 'füg* ergänz* erweiter* änder* mach* schreib* schick* send* prüf* such* find* bau* erstell* lösch* entfern* ruf* buch* plan* trag* les* lies nimm nehm* benutz* verwend* setz* stell* teste* kopier* verschieb* übersetz* fass* rechne* zeig* gib geb* hol* lad* öffne* schließ* start* stopp* deploy* commit* push* merge* aktualisier* korrigier* behalt* lass* kürz* sortier* schau* guck* kümmer* informier* bestell* reservier* storniere* vergleich* dokumentier* leg* richte räum* kümmere kümmert pack* sag* frag* antwort* erinner* bereite ruft hänge häng* verschick* melde_dich protokollier* erklär* zieh* führ* roll* migrier* such_* veröffentlich* kontaktier* such trag leg',
    refines:
      'lieber statt stattdessen nicht kein keine keinen nein nur ohne höchstens mindestens maximal aber sondern doch eher kürzer länger kleiner größer auf_deutsch auf_englisch achtung vorsicht soll sollte muss behalt* nimm verwend* benutz* direkt bis_freitag formell per_mail außer meinte ausschließlich auf_den ohne_die mit_dem datum',
    adds: 'auch noch außerdem zusätzlich danach anschließend dann ebenfalls zudem dazu übrigens ebenso sobald_du jetzt ferner',
    whens: 'jetzt dann danach übrigens',
    ands: 'und dann',
    limits:
      'statt stattdessen lieber höchstens mindestens maximal nur sondern auf_deutsch auf_englisch ausschließlich meinte ohne zuerst erstmal zuerst_mal',
    keeps: 'vergiss_nicht',
    drops:
      'vergiss vergiss_das lass_das lass_es vergessen_sie hör_auf brich_das_ab verwirf streich_das egal schon_gut nicht_mehr_nötig leg_das_beiseite',
    stops: 'stopp brich_ab abbrechen nicht_mehr streich leg lass pausier',
    anew: 'neue_aufgabe neuer_auftrag neues_thema anderes_thema planänderung andere_baustelle etwas_anderes was_anderes wir_machen_doch es_hat_sich_geändert kommando_zurück',
  },
  fr: {
    common:
      'ce le la les un une mon ma mes notre nos de du des et ou pas à au aux en dans sur pour avec par ne se y',
    idle: 'prends_ton_temps prenez_votre_temps prends_tout_ton prends_une_pause pas_de_souci pas_de_problème pas_de_panique pas_de_stress pas_de_remarque pas_de_question pas_d_urgence pas_la_peine pas_besoin pas_mal pas_encore pas_grave pas_pressé aucune_idée aucun_souci aucun_problème sans_souci sans_problème merci_pour merci_de merci_d fais_comme faites_comme regarde_moi_ça regarde_ça ne_t_inquiète ne_vous_inquiétez t_inquiète dis_moi_quand tiens_moi_au tenez_moi_au laisse_moi_réfléchir laisse_moi_voir bon_courage bonne_journée bonne_soirée rien_à rien_de_mon',
    said: 'ok oui ouais merci beaucoup super parfait parfaite génial bien très_bien bon bravo d_accord daccord entendu compris ça_marche ça_va c_est cest c est bonjour salut coucou nickel impeccable excellent top tout_bon exactement voilà boulot travail beau bien_vu vu ah oh bah hein alors donc tant_mieux pas_de_problème pas_de_souci non_plus sans_souci sans_problème sans_soucis pas_de_stress pas_de_panique pas_grave c_est_pas_grave prends_ton_temps prenez_votre_temps aucune_idée aucun_souci aucun_problème pas_mal pas_mal_du_tout pas_pressé on_verra on_verra_bien à_toi à_vous à_plus à_demain à_tout_à_l_heure haha mdr ouf ça_roule ça_me_va ça_me_plaît je_vois ah_oui ah_bon bonne_idée tant_pis moi_aussi pas_encore pas_de_remarque pas_de_remarques pas_de_question pas_de_questions aucune_remarque aucune_question rien_à_dire rien_à_ajouter rien_de_mon_côté c_est_noté noté fais_comme_tu_veux fais_comme_tu_le_sens faites_comme_vous_voulez comme_tu_veux comme_vous_voulez comme_prévu comme_convenu prends_une_pause regarde_moi_ça regarde_ça laisse_c_était encore_bravo encore_merci bien_joué chapeau à_bientôt bonne_journée bon_week_end bon_courage félicitations de_rien avec_plaisir ça_m_arrange bien_reçu j_adore j_aime_bien',
    goOn: 'continue continuez vas_y allez_y poursuis poursuivez tu_peux_continuer vous_pouvez_continuer je_vous_laisse_finir je_te_laisse_finir dépêche',
    asks: 'pourquoi comment quand où qui que quoi quel quelle quels quelles combien est_ce as_tu avez_vous es_tu ça_avance qu_est',
    mayYou:
      'peux_tu pouvez_vous pourrais_tu pourriez_vous tu_peux tu_pourrais vous_pouvez vous_pourriez peut_on pourrait_on puis_je est_il_possible je_peux je_pourrais on_peut on_pourrait',
    states:
      'je j nous il elle ils elles on ça cela mon ma notre le_client la_cliente c_était ça_a j_ai maintenant_je on_a tu_as vous_avez',
    own: 'je_dois je_vais il_faut_que_je j_y_vais faut_que_j',
    reports: 'est sont a ont était marche fonctionne avait plaît va vient dit validé',
    wants:
      's_il_te_plaît s_il_vous_plaît s_il_te_plait s_il_vous_plait stp svp besoin veux voudrais voulons doit doivent devrait faut faudrait n_oublie n_oubliez aimerais',
    does: 'ajout* chang* modifi* corrig* supprim* retir* envoi* envoy* écri* rédig* met mets mettez fais faites cherch* trouv* vérifi* regard* test* lanc* crée créez prépar* tradui* résum* utilis* prend* prenez réserv* appell* compar* déplo* pouss* gard* laiss* rempl* calcul* list* montr* donn* explique* planifi* command* inclu* appelle corrige demande réserve rappel* imprim* publi* trie* rang* cré* installe configure déploie fusionne relis propose commence mets-la documente préviens optimise ajoute enregistre répare répar* relance exporte importe signe valide vérifie rends rend remets mets_la mets_le',
    refines:
      'plutôt pas non seulement uniquement sans au_lieu mais sauf plus_court plus_courte moins max maximum minimum en_français en_anglais attention doit utilis* gard* limit* évite* pas_plus au_plus mets_le mets_la ne_change_pas ne_touche_pas ne_modifie_pas en_moins_de avec les_chiffres',
    adds: 'aussi également encore en_plus ensuite puis après de_plus par_ailleurs au_passage quand_tu_auras_fini maintenant pareil',
    whens: 'maintenant ensuite après au_passage puis',
    ands: 'et puis',
    limits:
      'plutôt au_lieu seulement uniquement au_plus pas_plus maximum minimum en_français en_anglais sans sauf d_abord',
    keeps: 'n_oublie n_oubliez',
    drops:
      'oublie oubliez oublie_ça laisse_tomber laissez_tomber laisse_ça abandonne finalement tant_pis',
    stops: 'annule annulez arrête arrêtez stop plus_besoin laisse laissez',
    anew: 'nouvelle_tâche nouvelle_mission nouveau_sujet autre_chose autre_sujet changement_de_plan changement_de_programme j_ai_changé_d_avis',
  },
  es: {
    common:
      'el la los las lo un una mi mis nuestro nuestra este esta de del y o no a al en con por para que se le más',
    idle: 'tómate_tu tómate_el tómese_su no_te_preocupes no_se_preocupe no_hay_problema no_hay_prisa no_pasa_nada no_tengo_prisa no_tengo_comentarios no_tengo_preguntas no_importa no_es_urgente sin_prisa sin_problema sin_comentarios gracias_por haz_lo_que_creas haz_como mira_qué mira_tú dame_un dame_cinco dime_cuando avísame_cuando déjame_ver déjame_pensar ni_idea que_tengas buen_fin todavía_no aún_no también_está',
    said: 'ok sí si vale gracias muchas genial perfecto perfecta bien muy_bien bueno buena excelente estupendo claro de_acuerdo entendido hola buenos_días buen_trabajo trabajo qué_bien exacto correcto por_favor favor muy pues ah oh listo dale azul ya_veo veo gran ya no_pasa_nada sin_problema sin_prisa tranquilo tranquila no_hay_prisa no_te_preocupes no_importa ni_idea tómate_tu_tiempo tómese_su_tiempo me_parece_bien me_gusta me_encanta qué_rápido qué_bueno qué_alivio jaja jajaja ojalá hasta_luego hasta_mañana nos_vemos por_mí_bien como_quieras yo_también todavía_no aún_no sin_comentarios no_hay_problema ningún_problema por_mi_parte nada_más nada_que_añadir no_tengo_comentarios no_tengo_preguntas haz_lo_que_creas como_creas mira_qué_bonito mira_tú deja_ya_lo también_está_bien de_nada con_gusto felicidades enhorabuena bien_hecho buen_día que_descanses me_alegro según_lo_previsto como_acordamos ni_te_preocupes ahora_sí',
    goOn: 'sigue siga sigue_así continúa continua continúe adelante procede prosigue date_prisa apúrate',
    asks: 'qué por_qué cómo cuándo dónde quién cuál cuáles cuánto cuánta cuántos cuántas has está están es hay',
    mayYou: 'puedes podrías puede podría pueden podemos podríamos puedo me_puedes te_importa',
    states:
      'yo nosotros él ella ellos esto eso ya me estoy estaba estuve voy vuelvo creo entiendo confío tengo ahora_entiendo ahora_veo lo_vi lo_leí lo_probé ya_lo ya_te ya_la ya_les todo_en_orden mi_jefe el_cliente ese esa somos tú él_ya veo sé',
    own: 'tengo_que voy_a debo_irme',
    reports:
      'es son está están fue ha han funciona sería estaba era tiene va dijo funcionó confirmó aprobó',
    wants:
      'por_favor necesito necesitamos quiero queremos quisiera debe deben debería tiene_que tienen_que hay_que no_olvides asegúrate me_gustaría que_sea',
    does: 'añad* agreg* cambi* modific* corrig* corrij* borr* elimin* quit* envía* envia* mand* mánd* escrib* pon ponlo ponla haz hazlo busc* encuentr* revis* mir* prueb* prob* ejecut* crea cree prepar* traduc* resum* us* utiliz* reserv* llam* compar* despleg* sub* guard* dej* calcul* list* muestr* explic* planific* incluy* actualiz* consult* arregl* program* súbelo sube document* investig* pregunt* confirm* contact* monta organiz* comprueb* corrige publica traduce libera resuelv* instala configur* ponle avisa manda envíale haga hága* pásame pásalo prográma* contesta respond* prepárame',
    refines:
      'mejor no solo sólo solamente sin en_vez en_lugar pero excepto salvo más_corto más_corta máximo mínimo como_mucho en_español en_inglés cuidado debe que_sea us* utiliz* únicamente sino evita* en_azul con_el no_pongas no_toques no_uses sin_animaciones como_máximo',
    adds: 'también además luego después otra_cosa una_cosa_más por_cierto de_paso cuando_termines asimismo ahora pues_ahora',
    whens: 'ahora luego después por_cierto',
    ands: 'y luego',
    limits:
      'mejor en_vez en_lugar solo sólo solamente únicamente máximo mínimo como_mucho en_español en_inglés sin sino que_sea primero antes',
    keeps: 'no_olvides no_te_olvides',
    drops: 'olvida olvídalo olvídate olvide deja_eso déjalo abandona ni_caso descarta',
    stops: 'cancela anula para detente ya_no deja dejemos olvídate',
    anew: 'nueva_tarea nuevo_encargo otro_tema otra_tarea cambio_de_planes cambio_de_plan cambié_de_opinión',
  },
  pt: {
    common:
      'o a os as um uma meu minha nosso nossa de do da dos das e ou não em no na com por para que se mais ao à',
    idle: 'leve_o_tempo leve_seu_tempo não_se_preocupe não_tem_pressa não_tem_problema não_é_urgente sem_pressa sem_problema sem_comentários obrigado_por obrigada_por obrigado_pela obrigada_pela valeu_pela faz_do_jeito faça_como faz_como olha_só que_beleza me_dá_um me_avisa_quando me_avise_quando deixa_eu_ver deixa_eu_pensar fica_tranquilo bom_fim ainda_não também_acho nem_ideia',
    said: 'ok sim obrigado obrigada valeu ótimo otimo ótima perfeito perfeita bom boa muito_bem bem beleza certo tudo_certo tudo_bem combinado entendi legal show ficou_ótimo ficou_bom ficou_perfeito ficou olá oi bom_dia bom_trabalho trabalho excelente exato isso_mesmo isso por_favor favor muito sem_pressa sem_problema sem_problemas não_tem_pressa não_se_preocupe fica_tranquilo tranquilo relaxa nem_ideia não_faço_ideia kkk kkkk haha rs faz_sentido deu_certo pode_deixar até_já até_amanhã já_volto leve_o_tempo que_precisar nossa que_bom que_rápido por_mim adorei eu_também também_acho ainda_não sem_comentários nada_a_declarar nada_a_acrescentar sem_dúvidas nenhum_problema faz_do_jeito_que_achar_melhor como_quiser como_preferir olha_só que_beleza deixa_já_achei de_nada parabéns bem_feito bom_descanso como_combinado agora_sim',
    goOn: 'continue continua pode_continuar segue siga prossiga prossegue vai_em_frente em_frente pode_seguir manda_ver depressa',
    asks: 'por_que porque como quando onde quem qual quais quanto quanta quantos quantas o_que está há já',
    mayYou:
      'pode_também você_pode você_poderia poderia podes podias pode_me consegue dá_para podemos poderíamos posso será_que',
    states:
      'eu nós ele ela eles elas isto isso estou tô vou volto acho entendi confio já_mandei já_vi já_volto meu minha_sócia o_cliente a_cliente aqui_funcionou pra_mim para_mim são agora_entendi entendo vejo sei',
    own: 'tenho_que vou_ter_que preciso_sair preciso_ir',
    reports:
      'é são está estão foi tem funciona funcionou passou passaram gostou adorou confirmou abriu ficou deu',
    wants:
      'por_favor preciso precisamos quero queremos queria gostaria deve devem deveria tem_que têm_que não_esqueça não_se_esqueça certifique',
    does: 'adicion* acrescent* mud* alter* corrij* corrig* apag* remov* tir* envi* mand* escrev* ponha coloqu* coloc* faz faça busqu* procur* ach* revis* veja verifi* test* execut* crie cria prepar* traduz* resum* us* utiliz* reserv* lig* compar* publi* guard* deix* calcul* list* mostr* expli* planej* inclu* atualiz* olh* tira põe bota arrum* resolv* monta monte prepare conserte consert* aproveita liga avisa avise refaça organiz* pergunt* contat* configure instale instal* roda rode documenta documente configura ajusta ajuste limpa limpe gera gere',
    refines:
      'melhor não nao só somente apenas sem em_vez ao_invés mas exceto mais_curto mais_curta máximo mínimo no_máximo em_português em_inglês cuidado deve us* utiliz* em_vez_disso evite não_mexe não_mexa não_use porta sem_docker com_duas',
    adds: 'também além depois mais_uma_coisa aliás quando_terminar em_seguida agora ainda',
    whens: 'agora depois aliás ainda',
    ands: 'e depois',
    limits:
      'em_vez ao_invés em_vez_disso só somente apenas no_máximo máximo em_português em_inglês sem primeiro antes',
    keeps: 'não_esqueça não_se_esqueça',
    drops: 'esqueça esquece esqueça_isso esquece_isso deixa_isso deixa_pra_lá abandone descarte',
    stops: 'cancela cancele anule para pare não_precisa_mais deixa deixe',
    anew: 'nova_tarefa novo_pedido outro_assunto outra_coisa outra_tarefa mudança_de_planos mudança_de_plano mudei_de_ideia',
  },
  it: {
    common:
      'il lo la i gli le un una mio mia nostro nostra di del della dei e o non a al in con per da che si più nel',
    idle: 'fai_con_calma fai_come prenditi_il prenditi_tutto non_ti_preoccupare non_si_preoccupi non_c_è_fretta non_è_urgente non_importa senza_fretta senza_problemi nessun_problema nessuna_fretta nessuna_idea grazie_per grazie_di guarda_che_bello guarda_un_po dammi_un dammi_cinque fammi_sapere fammi_pensare fammi_vedere tienimi_aggiornato tienimi_aggiornata buona_giornata buon_lavoro non_ancora niente_da anche_a_me anche_questo',
    said: 'ok sì si grazie mille perfetto perfetta ottimo ottima bene benissimo va_bene bravo brava buono buona d_accord daccordo d_accordo capito chiaro certo esatto giusto ciao salve buongiorno ottimo_lavoro bel_lavoro lavoro fantastico per_favore favore pure molto splendido nessun_problema nessuna_fretta con_calma fai_con_calma senza_fretta non_c_è_fretta tranquillo tranquilla non_ti_preoccupare non_importa nessuna_idea non_ne_ho_idea figurati a_dopo a_domani ci_vediamo ah_ecco ecco mi_piace mi_piace_molto bella bello bellissimo bellissima tutto_bene tutto_a_posto a_posto haha ahah benone veloce come_immaginavo anch_io anche_a_me non_ancora niente_da_aggiungere niente_da_dire nessun_commento nessuna_domanda fai_come_credi fai_come_vuoi come_vuoi come_preferisci guarda_che_bello guarda_un_po lascia_l_ho_trovato prego complimenti ben_fatto buona_giornata come_previsto come_concordato anche_questo_va_bene',
    goOn: 'vai_avanti continua continui procedi proceda avanti prosegui va_avanti sbrigati',
    asks: 'perché come quando dove chi che cosa quale quali quanto quanta quanti quante è sono hai ha a_che',
    mayYou:
      'puoi potresti può potrebbe potete possiamo potremmo posso ti_dispiace mi_fa mi_fai mi_puoi si_può',
    states:
      'io noi lui lei loro questo questa quello quella l_ho l ho torno vado penso vedo adesso_vedo adesso_le da_me il_cliente la_cliente quel stamattina ieri siamo capisco so adesso_capisco',
    own: 'devo vado_a',
    reports: 'è sono era ha hanno funziona funzionava va piace confermato',
    wants:
      'per_favore per_cortesia bisogno serve servono voglio vogliamo vorrei deve devono dovrebbe bisogna non_dimenticare assicurati',
    does: 'aggiung* cambia modific* corregg* cancell* elimin* togli rimuov* invia mand* scriv* metti fai cerca trov* controll* guard* prov* esegui crea prepar* traduc* riassum* us* utilizz* prenot* chiam* confront* pubblic* lascia tieni calcol* elenc* mostr* spieg* pianific* includ* aggiorn* sistema correggi avvisa chiedi rispondi sposta carica pubblica ordina stampa installa configura verifica risolvi informati disdici calcola togliere ripara trova scarica manda',
    refines:
      'meglio invece no non solo soltanto senza anziché ma tranne più_breve più_corto più_corta massimo minimo al_massimo in_italiano in_inglese attenzione deve us* utilizz* evita piuttosto niente_plugin larghezza senza_vincoli niente',
    adds: 'anche inoltre poi dopo un_altra_cosa ancora già_che_ci_sei quando_hai_finito pure adesso ora',
    whens: 'adesso ora poi dopo ancora pure',
    ands: 'e poi',
    limits:
      'invece anziché piuttosto solo soltanto al_massimo massimo in_italiano in_inglese senza più_breve più_corto prima',
    keeps: 'non_dimenticare',
    drops: 'dimentica lascia_perdere lascia_stare lasci_perdere abbandona',
    stops: 'annulla fermati ferma basta non_serve_più lascia lasciamo',
    anew: 'nuovo_compito nuova_attività nuovo_incarico altro_argomento altra_cosa cambio_di_programma cambio_di_piani ho_cambiato_idea',
  },
  nl: {
    common: 'de het een mijn onze ons van en of niet in op aan voor met bij naar te om er nog',
    idle: 'neem_de_tijd neem_je_tijd neem_rustig maak_je_geen maak_je_niet geen_haast geen_probleem geen_zorgen geen_idee geen_stress geen_opmerkingen geen_vragen niet_erg niet_dringend niet_slecht nog_niet niets_toe bedankt_voor dank_je_voor doe_maar_rustig doe_maar_wat kijk_eens_aan laat_me_weten laat_maar_weten geef_me_even fijne_dag fijn_weekend veel_succes ook_goed',
    said: 'ok oké ja prima goed top mooi bedankt dank je wel u dankjewel dank_je_wel ziet_er_goed_uit klinkt_goed ziet er uit perfect geweldig klopt precies duidelijk begrepen akkoord hallo hoi goedemorgen goed_gedaan fijn alsjeblieft graag maar gewoon super geen_haast geen_stress geen_probleem geen_idee geen_zorgen maakt_niet_uit neem_de_tijd neem_je_tijd rustig_aan tot_zo tot_straks tot_morgen haha aha mooi_zo snel_gedaan lekker wat_fijn komt_goed ik_ook nog_niet ook_goed niets_toe_te_voegen geen_opmerkingen geen_vragen doe_maar_rustig doe_maar_wat_je_denkt zoals_je_wilt kijk_eens_aan laat_maar_gevonden graag_gedaan gefeliciteerd goed_bezig fijne_dag zoals_afgesproken zoals_verwacht',
    goOn: 'ga_door ga_maar_door ga_verder doorgaan ga_je_gang verder schiet_op',
    asks: 'wat waarom hoe wanneer waar wie welke welk is zijn heb heeft ben duurt',
    mayYou: 'kun_je kan_je kunt_u kunnen_we zou_je zou_u wil_je wilt_u kan_ik mag_ik',
    states:
      'ik wij we hij zij ze het dat dit bij_mij bij_ons dan_wacht mijn de_klant nu_snap snap dan_is wacht begrijp',
    own: 'ik_moet ik_ga',
    reports:
      'is zijn was waren heeft hebben werkt lukt klaar werkte ging kwam zei vond klopt weet wist',
    wants:
      'alsjeblieft alstublieft graag nodig wil willen moet moeten zou_graag vergeet_niet zorg_dat laten_we',
    does: 'voeg maak schrijf stuur zoek vind controleer check bouw verwijder bel boek plan lees neem gebruik zet test kopieer verplaats vertaal vat bereken toon geef haal open sluit start stop deploy commit push werk pas houd laat kort sorteer kijk regel bestel reserveer vergelijk documenteer verander wijzig pak los herschrijf repareer installeer vraag antwoord publiceer breid organiseer plaats corrigeer onderzoek schrijf_op zoek_uit ruim',
    refines:
      'liever niet geen nee alleen enkel zonder in_plaats hoogstens minstens maximaal maar behalve korter langer in_het_nederlands in_het_engels let_op pas_op moet gebruik niet_de graag',
    adds: 'ook nog daarnaast bovendien daarna vervolgens trouwens tevens als_je_klaar_bent nu',
    whens: 'nu daarna trouwens nog',
    ands: 'en dan',
    limits:
      'liever in_plaats alleen enkel hoogstens minstens maximaal in_het_nederlands in_het_engels zonder eerst',
    keeps: 'vergeet_niet',
    drops: 'vergeet vergeet_dat laat_maar laat_dat stop_daarmee laat_zitten',
    stops: 'annuleer hoeft_niet_meer niet_meer_nodig laat',
    anew: 'nieuwe_taak nieuwe_opdracht ander_onderwerp iets_anders wijziging_van_plan verandering_van_plan andere_taak',
  },
  pl: {
    common: 'mój moja nasz nasza i a w z na do o od po że się nie dla przy',
    idle: 'nie_spiesz nie_martw nie_przejmuj nie_ma_pośpiechu nie_ma_problemu nie_ma_sprawy nie_mam_uwag nie_mam_pytań nie_pilne bez_pośpiechu bez_uwag dzięki_za dziękuję_za rób_jak patrz_jak daj_znać daj_mi_chwilę daj_mi_minutę jeszcze_nie też_dobrze miłego',
    said: 'ok tak dobra dobrze super świetnie świetna dzięki dziękuję dziekuje bardzo jasne zgoda rozumiem idealnie doskonale pięknie brawo cześć hej dzień_dobry dobra_robota robota spoko proszę no wygląda wygląda_dobrze bez_pośpiechu spokojnie nie_ma_sprawy nie_ma_problemu nie_ma_pośpiechu nie_spiesz_się nic_nie_szkodzi nie_martw_się nie_wiem pojęcia ładnie haha aha no_tak no_i do_jutra do_zobaczenia na_razie ma_sens to_ma_sens tak_myślałem tak_myślałam ja_też jeszcze_nie też_dobrze nie_mam_uwag nie_mam_pytań bez_uwag nic_do_dodania rób_jak_uważasz jak_chcesz jak_wolisz patrz_jakie_ładne patrz_jak zostaw_już_mam nie_ma_za_co gratulacje tak_jak_ustaliliśmy dobrze_wiedzieć',
    goOn: 'kontynuuj dalej tak_trzymaj działaj śmiało jedź_dalej rób_dalej pospiesz',
    asks: 'co czemu dlaczego jak kiedy gdzie kto który która które ile czy jest',
    mayYou: 'możesz mógłbyś mogłabyś czy_możesz czy_mógłbyś możemy czy_możemy mogę',
    states:
      'ja my on ona oni to ten ta te jestem byłem byłam wracam idę myślę widzę rozumiem sprawdzę zobaczę zajmę u_mnie klient już_im już_mu to_stary to_stara teraz_rozumiem wiem nie_mam testy_przeszły',
    own: 'muszę',
    reports: 'jest są był była ma mają działa przeszły potwierdził wyszło poszło było były',
    wants:
      'proszę potrzebuję potrzebujemy chcę chcemy chciałbym chciałabym musi muszą powinien powinna powinno trzeba nie_zapomnij upewnij',
    does: 'dodaj zmień popraw usuń wyślij napisz zrób sprawdź znajdź szukaj poszukaj zobacz przetestuj uruchom stwórz utwórz przygotuj przetłumacz podsumuj użyj weź zarezerwuj zadzwoń porównaj wdróż zostaw oblicz policz pokaż wyjaśnij zaplanuj zamów zaktualizuj dołącz ustaw skróć dopisz podłącz ratuj przejrzyj napraw naprawcie zapytaj odpowiedz zainstaluj skonfiguruj opublikuj zadbaj ogarnij zbadaj przygotujcie wrzuć odpisz zróbcie i_wyślij',
    refines:
      'raczej zamiast nie tylko jedynie bez ale oprócz krócej krótszy krótsze maksymalnie najwyżej co_najmniej po_polsku po_angielsku uwaga ostrożnie musi użyj lepiej',
    adds: 'też także również jeszcze ponadto potem następnie przy_okazji dodatkowo a_potem jak_skończysz teraz',
    whens: 'teraz potem jeszcze przy_okazji',
    ands: 'i a',
    limits:
      'raczej zamiast tylko jedynie maksymalnie najwyżej co_najmniej po_polsku po_angielsku bez lepiej najpierw',
    keeps: 'nie_zapomnij',
    drops: 'zapomnij nieważne zostaw_to rzuć_to daj_spokój',
    stops: 'anuluj przerwij stop już_nie zostaw odłóż',
    anew: 'nowe_zadanie nowy_temat inny_temat inna_sprawa coś_innego zmiana_planów zmiana_planu zmieniłem_zdanie',
  },
  tr: {
    common: 'benim bizim ve bir bu şu için ile de da mi daha çok',
    idle: 'acelesi_yok acele_etme merak_etme sorun_değil sorun_yok önemli_değil haber_ver nasıl_istersen bana_bir_dakika bir_dakika kolay_gelsin iyi_günler henüz_değil',
    said: 'tamam evet peki olur teşekkürler teşekkür ederim sağ_ol sağol harika güzel süper mükemmel çok iyi anladım doğru merhaba selam lütfen eline_sağlık aferin bravo tabii elbette oldu çok_iyi acelesi_yok acele_yok acele_etme sorun_değil sorun_yok önemli_değil merak_etme dert_değil fikrim_yok görüşürüz sonra_görüşürüz haha vay aynen acelen_yok mantıklı ben_de henüz_değil bu_da_iyi benden_bu_kadar nasıl_istersen sen_bilirsin rica_ederim tebrikler ellerine_sağlık kolay_gelsin iyi_günler beklediğim_gibi',
    goOn: 'devam devam_et devam_edin devam_edebilirsin sürdür acele_et hadi',
    asks: 'ne neden niye niçin nasıl nerede kim hangi kaç mi mı mu mü ne_zaman',
    mayYou:
      'yapabilir_misin edebilir_misin bakabilir_misin ekleyebilir_misin gönderebilir_misin yazabilir_misin',
    states: 'ben biz o bu şu bende bizde patron müşteri',
    own: 'gitmem_lazım çıkmam_lazım',
    reports:
      'var yok oldu çalışıyor bitti geçti geldi gitti onayladı gördüm düşünmüştüm beğendim beğendi sevdim dönerim toplantıdayım yemekteyim geçtiler memnun güzelmiş hızlıymış anladım beklerim çıktı üçte saatte',
    wants: 'lütfen lazım gerek gerekiyor istiyorum istiyoruz olmalı unutma olsun',
    does: 'ekle ekleyin yaz yazın gönder gönderin yap yapın bul bulun bak bakın kontrol düzelt değiştir sil kaldır kullan kullanın oluştur hazırla çevir özetle ara karşılaştır güncelle aç kapat başlat göster hesapla planla çalıştır incele öner iste araştır sor onar ver kur yükle paylaş ilet bildir yayınla taşı kopyala düzenle tamamla yapıver hazırlayın hesaplayın',
    refines:
      'hayır değil yerine sadece yalnızca olmadan hariç ama daha en_fazla en_az türkçe ingilizce dikkat kullan kısa olmasın kalsın tarih olsun',
    adds: 'da de ayrıca bir_de hem sonra ardından üstelik şimdi',
    whens: 'şimdi sonra',
    ands: 've',
    limits: 'yerine sadece yalnızca en_fazla en_az türkçe ingilizce hariç önce',
    keeps: 'unutma',
    drops: 'boş_ver boşver unut vazgeç vazgeçtim vazgeçtik',
    stops: 'iptal bırak dur',
    anew: 'yeni_görev yeni_konu başka_konu başka_bir_şey plan_değişti plan_değişikliği fikrimi_değiştirdim',
  },
  sv: {
    common: 'det den en ett de som och eller inte i på till för med av är att om jag du vi så',
    idle: 'ta_det_lugnt ta_den_tid ingen_brådska ingen_stress inget_problem inga_problem oroa_dig_inte tack_för hör_av_dig säg_till ge_mig_en gör_som_du trevlig ha_det_bra inte_än också_bra',
    said: 'ok okej ja jo tack tackar bra jättebra toppen perfekt snyggt fint strålande jobbat bra_jobbat det_ser_bra_ut ser_bra_ut stämmer precis hej snälla gärna tyvärr härligt ingen_fara självklart ingen_brådska inget_problem inga_problem ta_det_lugnt det_är_lugnt ingen_aning ingen_stress haha vad_bra vad_skönt vi_ses vi_hörs jaha då_fattar snyggt_byggt oroa_dig_inte jag_med inte_än också_bra inga_kommentarer inga_frågor gör_som_du_vill som_du_vill titta_där varsågod grattis bra_att_veta som_väntat',
    goOn: 'fortsätt fortsätt_så kör_på kör_vidare gå_vidare skynda',
    asks: 'vad varför hur när var vem vilken vilket vilka är har kan ska går finns',
    mayYou: 'kan_du skulle_du kunde_du vill_du kan_vi kan_jag får_jag',
    states: 'jag vi han hon de det den min kunden testerna det_funkar det_var',
    own: 'jag_måste jag_ska',
    reports: 'är var har hade fungerar klart klar funkar gick kom sa gröna nöjd stämmer',
    wants: 'snälla behöver vill ska måste borde glöm_inte se_till',
    does: 'lägg ändra gör skriv skicka kolla leta hitta bygg skapa ta radera ring boka planera läs använd sätt testa kopiera flytta översätt sammanfatta räkna visa ge hämta öppna stäng starta stoppa uppdatera fixa rätta jämför inkludera fråga svara publicera installera konfigurera ordna städa lös skriv_ner starta_om',
    refines:
      'hellre istället inte nej bara endast utan men utom kortare längre på_svenska på_engelska måste använd behåll helst',
    whens: 'nu sen sedan förresten till',
    ands: 'och',
    limits: 'hellre istället bara endast högst minst max på_svenska på_engelska utan först',
    adds: 'också även dessutom sedan därefter sen till förresten nu',
    keeps: 'glöm_inte',
    drops: 'glöm glöm_det strunta strunta_i_det skit_i_det lämna_det strunt_i',
    stops: 'avbryt stopp behövs_inte',
    anew: 'ny_uppgift nytt_uppdrag annat_ämne något_annat ändrade_planer ny_plan',
  },
  ru: {
    common: 'мой моя наш наша и а в с на к о от по что не для у',
    idle: 'не_торопись не_торопитесь не_спеши не_спешите не_переживай не_переживайте не_волнуйся не_беспокойся не_срочно не_проблема не_страшно без_спешки спасибо_за делай_как смотри_ка дай_знать дай_мне_минуту дай_минутку напиши_как_будет_готово ещё_нет еще_нет тоже_хорошо нет_проблем мне_надо_бежать мне_надо_идти',
    said: 'ок окей да ага хорошо ладно отлично супер спасибо большое прекрасно здорово класс круто замечательно понял поняла понятно согласен согласна верно точно молодец идеально привет здравствуйте добрый_день пожалуйста ну так хорошая_работа не_спешу не_спеши не_спешите не_торопись не_торопитесь не_торопясь без_спешки не_проблема нет_проблем без_проблем ничего_страшного не_переживай не_волнуйся не_знаю понятия_не_имею хаха ого ух_ты вау норм логично до_завтра до_связи увидимся быстро неплохо не_за_что мне_нравится я_тоже мне_тоже_нравится ещё_нет еще_нет тоже_хорошо нечего_добавить без_замечаний нет_вопросов вопросов_нет замечаний_нет делай_как_знаешь как_хочешь как_скажешь смотри_ка оставь_уже_нашёл не_стоит_благодарности поздравляю так_и_есть как_договаривались как_ожидалось',
    goOn: 'продолжай продолжайте дальше давай_дальше давай продолжим вперёд вперед действуй поторопись',
    asks: 'что почему зачем как когда где кто какой какая какие сколько долго ли готово',
    mayYou: 'можешь можете мог_бы могла_бы могли_бы можно не_мог_бы',
    states:
      'я мы он она они это этот эта всё все у_меня мне буду видел видела думал думала посмотрю проверю гляну заказчик клиент тесты сервер домен теперь_понял теперь_понятно там понимаю вижу шеф начальник',
    own: 'мне_надо_идти мне_нужно_идти мне_пора',
    reports:
      'есть был была было были работает готово открылось прошли довольна доволен подтвердил зелёные старый',
    wants:
      'пожалуйста нужно нужна нужен нужны надо хочу хотим хотел_бы хотела_бы должен должна должно должны не_забудь убедись',
    does: 'добавь добавьте измени исправь удали отправь отправьте напиши напишите сделай сделайте проверь найди посмотри поищи запусти создай подготовь переведи суммируй используй возьми забронируй позвони сравни выложи закоммить оставь посчитай покажи объясни запланируй закажи обнови включи поставь сократи настрой почини разберись подключи опубликуй перенеси спроси ответь установи собери оформи распиши нарисуй перепиши убери запиши уточни проанализируй составь',
    refines:
      'лучше вместо не нет только лишь без но кроме короче покороче максимум минимум не_больше не_более на_русском на_английском по_русски осторожно внимание используй должен должно',
    adds: 'тоже также ещё еще кроме_того потом затем заодно кстати а_также когда_закончишь теперь',
    whens: 'теперь потом затем кстати ещё еще',
    ands: 'и а',
    limits:
      'лучше вместо только лишь максимум не_больше не_более на_русском на_английском по_русски без сначала сперва',
    keeps: 'не_забудь не_забудьте',
    drops: 'забудь забудьте оставь_это брось отставить неважно',
    stops: 'отмена отмени стоп хватит больше_не оставь отложи подождёт',
    anew: 'новая_задача новое_задание другая_тема другое_дело планы_изменились смена_планов я_передумал я_передумала',
  },
  ar: {
    common: 'في من على إلى عن مع و أن',
    idle: 'لا_تقلق لا_داعي_للعجلة لا_مشكلة لا_بأس خذ_وقتك على_مهلك شكرا_على أخبرني_عندما افعل_ما_تراه ليس_بعد لا_شيء_من',
    said: 'نعم حسنا حسنًا شكرا شكرًا جزيلا ممتاز رائع جيد جدا تمام أحسنت موافق فهمت مرحبا السلام_عليكم من_فضلك لو_سمحت طيب عظيم لا_مشكلة لا_بأس خذ_وقتك على_مهلك لا_تقلق لا_داعي_للعجلة جميل جميل_جدا أحسنتم هههه كما_توقعت لا_أعرف أنا_أيضا ليس_بعد لا_شيء_من_جهتي لا_تعليق لا_أسئلة افعل_ما_تراه_مناسبا كما_تريد كما_تشاء هذا_جيد_أيضا الآن_فهمت عفوا مبروك كما_اتفقنا',
    goOn: 'استمر تابع واصل أكمل تفضل',
    asks: 'لماذا ماذا ما كيف متى أين من أي كم هل',
    mayYou: 'هل_يمكنك هل_بإمكانك هل_تستطيع ممكن',
    states:
      'أنا نحن هو هي هم هذا هذه ذلك سأعود سوف العميل رأيته وصلني فهمت لم يعمل نجحت الاختبارات المدير الخادم',
    own: 'يجب_أن_أذهب',
    reports: 'كان كانت يعمل نجحت سعيد وصل',
    wants: 'من_فضلك رجاء أحتاج نحتاج أريد نريد يجب لا_تنس تأكد لو_سمحت',
    does: 'أضف وأضف غير عدل صحح احذف أرسل اكتب افعل ابحث افحص راجع شغل أنشئ جهز ترجم لخص استخدم خذ احجز اتصل قارن انشر اترك احسب اعرض اشرح خطط حدث وحدث انظر وانظر اختبر واكتب وأرسل وأصلح أصلح وترجم وتحقق تحقق وابحث جرب اقترح أعد وأعد اختصر رتب نظف أصلحه أكمل',
    refines:
      'لا بدلا بدل فقط بدون دون لكن إلا أقصر أقصى ليس بالعربية بالإنجليزية احذر استخدم الأفضل',
    adds: 'أيضا أيضًا كذلك ثم بعد_ذلك إضافة الآن',
    whens: 'الآن بعد_ذلك',
    ands: 'و ثم',
    limits: 'بدلا بدل فقط بدون بالعربية بالإنجليزية أقصى أولا',
    keeps: 'لا_تنس',
    drops: 'انس انسى اترك_ذلك دعك دع_ذلك لا_داعي',
    stops: 'ألغ الغ توقف اترك أجل',
    anew: 'مهمة_جديدة موضوع_آخر شيء_آخر تغيير_في_الخطة تغيرت_الخطة',
  },
  hi: {
    common: 'मेरा हमारा का की के में से को पर और ने',
    idle: 'कोई_जल्दी कोई_बात_नहीं चिंता_मत जल्दी_मत आराम_से बता_देना',
    said: 'ठीक है ठीक_है हाँ हां जी अच्छा बहुत बढ़िया शानदार धन्यवाद शुक्रिया सही समझ_गया समझ_गई नमस्ते कृपया वाह एकदम ओके कोई_जल्दी_नहीं कोई_बात_नहीं चिंता_मत_करो आराम_से पसंद_आया समझ_में_आया मज़ा_आ_गया हाहा मुझे_भी_पसंद_है अभी_नहीं जैसा_ठीक_लगे जैसा_चाहो कोई_सवाल_नहीं अब_समझा बधाई',
    goOn: 'आगे_बढ़ो जारी_रखो जारी_रखें जारी_रखिए चलते_रहो आगे_बढ़ें करते_रहो',
    asks: 'क्या क्यों कैसे कब कहाँ कौन कितना कितनी कितने किस',
    mayYou: 'क्या_आप क्या_तुम सकते_हो सकते_हैं सकती_हो',
    states: 'मैं हम वह वे यह ये मुझे मैंने अभी बॉस ग्राहक',
    own: 'मुझे_जाना',
    reports: 'था थी गया है हैं आया दिया हूँ हूं हुआ खुश',
    wants: 'कृपया चाहिए चाहता चाहती ज़रूरत जरूरत ज़रूरी मत_भूलना प्लीज़',
    does: 'जोड़ो जोड़ें लिखो लिखें लिखिए भेजो भेजें करो करें कर_दो कर_दीजिए बदलो बदलें हटाओ हटाएं देखो देखें ढूंढो खोजो बनाओ बनाएं जाँचो जांचो चलाओ बताओ अनुवाद ठीक_करो सुधारो तैयार_करो भेज_दो कर_लो लगाओ पूछो भरो दो',
    refines: 'नहीं बजाय सिर्फ केवल बिना लेकिन छोटा मत हिंदी_में अंग्रेज़ी_में उपयोग ज़्यादा_नहीं रंग',
    adds: 'भी इसके_अलावा फिर उसके_बाद साथ_में एक_और अब',
    whens: 'अब फिर',
    ands: 'और',
    limits: 'बजाय सिर्फ केवल बिना हिंदी_में अंग्रेज़ी_में नहीं पहले',
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
    idle: '不急 慢慢来 别担心 不用急 不着急 没关系 没什么 你看着办 谢谢你 有消息告诉我 好了告诉我 等我',
    said: '好的 好吧 好 谢谢 多谢 感谢 辛苦了 没问题 可以 不错 很好 太好了 太棒了 完美 棒 对的 对 是的 是 嗯 行 明白 知道了 收到 了解 你好 您好 就这样 吧 了 啊 哦 厉害 很 不急 慢慢来 没关系 没事 别担心 不用急 不客气 哈哈 果然 原来如此 懂了 真快 嗯嗯 看着没问题 我也这么想 我也 还没有 没什么要补充的 没有问题 没意见 你看着办 你决定 随你 也行 也好 都说好 不用谢 恭喜 现在明白了 我先走了 快多了 意料之中',
    goOn: '继续 接着做 接着 请继续 往下做 加油 快点 下一步',
    asks: '为什么 怎么 什么 多久 哪 几 吗 呢 谁 是不是 有没有 多少',
    mayYou: '能不能 可以帮 能帮 可不可以 麻烦 能否',
    states: '我 我们 这个 那个 他 她',
    own: '我在 我去 我先 我刚 我晚 我待 我会 我再 我来 我这 我明 我知 我看 我也 我已 客户 老板',
    reports: '已经 昨天 刚才',
    wants: '请 帮 需要 要 应该 必须 记得 别忘 想',
    does: '改 写 加 做 看 查 发 找 用 删 建 测 算 译 订 修 更新 整理 准备 部署 提交 比较 列 画 安排 处理 检查 生成 抓 做个 导出 上传 发布 通知 修复 联系 解决 排查 重写 上线 优化',
    refines:
      '不对 不是 而是 不要 别 只 仅 用中文 用英文 短一点 长一点 简短 改成 换成 至少 最多 不超过 除了 注意 保留 中文 英文 用 应该',
    adds: '也 还 再 另外 此外 然后 接下来 顺便 同时 以及 加上 加一 现在',
    whens: '现在 还',
    ands: '',
    limits:
      '不对 不是 而是 不要 只要 只 用中文 用英文 改成 换成 至少 最多 不超过 短一点 长一点 别用',
    keeps: '别忘 不要忘',
    drops: '算了 忘了 忘掉 别管 不用管 放弃 先停 先不 先放着',
    stops: '取消 停下 不需要 先放',
    anew: '新任务 新的任务 换个话题 换个任务 另一件事 计划有变 计划变了 改主意',
  },
  ja: {
    common: '',
    idle: '急がなくて ごゆっくり 気にしないで お任せします ありがとう 終わったら教えて できたら教えて',
    said: 'ありがとうございます ありがとう いいですね 了解です 了解しました 了解 わかりました 分かりました はい ええ うん 大丈夫です 大丈夫 完璧です 完璧 素晴らしい すばらしい すごい お疲れ様です お疲れさま よろしくお願いします よろしく こんにちは その調子で その調子 オーケー いい感じ です ね 急がなくて大丈夫です 急がなくていい ごゆっくり ゆっくりで 問題ないです 問題なし 気にしないで なるほど さすが へえ おお 助かります 嬉しい 早いですね 見やすい お疲れ 今わかりました まだです 特にありません 私もそう思います それもいいですね お任せします 任せます どういたしまして おめでとう そうですね 予想通り',
    goOn: '続けてください 続けて 続行 進めてください 進めて そのまま 急いで',
    asks: 'なぜ なに 何 どう いつ どこ 誰 どれ どの いくら ですか ますか でしょうか ましたか の？',
    mayYou: 'もらえますか いただけますか くれますか くださいますか できますか もらえる',
    states: '私 僕 これは それは 昨日 さっき',
    own: '私も',
    reports:
      'もう ました です ます でした ですね ますね ましたね でしたね ません 中です てます なしです った なった きます',
    wants: 'ください お願い 欲しい ほしい 必要 べき して 忘れずに',
    does: '追加 変更 修正 直し 書い 送っ 作っ 調べ 見て 探し 確認 削除 翻訳 使っ 更新 テスト 比較 予約 計算 表示 付けて 直して まとめて 書いて 作って 送って 消して 調べて 知らせて 入れて 変えて 手配 比べて',
    refines:
      '違います 違う ではなく じゃなく だけ のみ せずに しないで なしで 日本語で 英語で 短く 以内 以下 まで 代わりに 注意 使って より にして 使わないで 除いて 一日一回 大きめ でいい',
    adds: 'も それと また さらに あと 次に その後 ついでに',
    whens: 'あと その後',
    ands: '',
    limits: '違います 違う ではなく じゃなく だけ のみ せずに 日本語で 英語で 代わりに 以内 以下',
    keeps: '忘れずに',
    drops: 'やっぱり 忘れて やめて もういい 後でいい 後回し',
    stops: 'キャンセル 取り消し 中止',
    anew: '新しいタスク 新しい仕事 別の件 別件 話は変わ 予定変更 計画変更',
  },
  ko: {
    common: '',
    idle: '천천히 걱정_마 서두르지 알아서_해 고마워 감사 끝나면_알려',
    said: '네 예 응 좋아요 좋아 좋습니다 감사합니다 감사해요 고마워요 고마워 고맙습니다 알겠습니다 알겠어요 완벽해요 완벽 훌륭해요 잘했어요 수고하셨습니다 수고했어요 수고 안녕하세요 맞아요 괜찮아요 최고 천천히 역시 괜찮아 문제없어요 걱정_마세요 대박 그렇군요 천천히_하셔도_돼요 아직이요 저도_그렇게_생각해요 그것도_좋네요 알아서_해_주세요 알아서_해줘 이해했어요 축하해요 천만에요 먼저_가볼게요',
    goOn: '계속해 계속하세요 계속 진행해 진행하세요 빨리',
    asks: '왜 뭐 무엇 어떻게 언제 어디 누구 얼마나 까요 나요 인가요 습니까',
    mayYou: '줄 수 있 주실 수 있 해줄래 할 수 있',
    states: '저는 나는 우리는 이것은 어제 방금',
    own: '제가 저는 제_쪽 저도',
    reports:
      '이미 했어요 됐어요 이에요 예요 네요 돼요 습니다 군요 였어요 었어요 았어요 맞아요 중이에요 게요 각해요',
    wants: '주세요 해줘 해 주 필요 해야 원해 바랍니다 부탁',
    does: '추가 변경 수정 작성 써 보내 찾아 확인 삭제 번역 만들 업데이트 테스트 비교 예약 계산 보여 고쳐 배포 정리 조사 알려 준비 설치 넣어 바꿔 요약',
    refines:
      '아니 말고 만 대신 없이 하지 마 한국어로 영어로 짧게 이하 이내 최대 주의 사용 빼고 것만 다시',
    adds: '도 또 그리고 추가로 다음에 그다음 더불어',
    whens: '이제',
    ands: '',
    limits: '말고 대신 한국어로 영어로 이내 이하',
    keeps: '잊지',
    drops: '잊어 됐어 관둬 나중에 그건_됐고',
    stops: '취소 중단 그만',
    anew: '새 작업 새로운 작업 다른 일 다른 주제 계획이 바뀌 계획 변경',
  },
}
