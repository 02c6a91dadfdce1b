/**
 * The forms of German, French, Spanish, Italian and Portuguese verbs that order a deed or forbid it: infinitives,
 * imperatives, and what follows a "not". Indicative forms that tell of something are left out where they differ.
 */
const forms: Record<string, readonly string[]> = {
  delete: [
    'lösch(?:e|en)',
    'supprim(?:e|es|er|ez)|effac(?:e|es|er|ez)',
    'borr(?:a|ar|es|e|en)|borrarlos?|elimin(?:a|ar|arl[ao]|es|en)',
    'cancell(?:a|are|arl[ao]|i|ino)|elimin(?:are|i)',
    'apag(?:a|ar|ue|ues|uem)|exclu(?:ir|as?|am)',
  ],
  push: ['push(?:e|en)', 'pouss(?:e|es|er|ez)|pusher', 'pushe(?:ar|es|e|a)', 'push(?:are|a|i)'],
  commit: [
    'committ(?:e|en)',
    'commit(?:er|ez)',
    'commite(?:ar|es|a)',
    'committ(?:are|i)',
    'commitar',
  ],
  merge: [
    'mergen|zusammenführen',
    'fusionn(?:e|es|er|ez)|merger',
    'fusion(?:ar|es|a)|merge(?:ar|es|a)',
    'unire|fondere|mergiare',
    'mescl(?:ar|e|es)',
  ],
  deploy: [
    'deploy(?:e|en)|ausrollen|ausliefern',
    'déploy(?:er|ez)|déploi(?:e|es)',
    'despleg(?:ar|ues?|uen)|despliegu(?:e|es)|desplieg(?:a|ue|ues)',
    'deployare|distribuire|rilasciare',
    'implant(?:ar|e|es)',
  ],
  restart: [
    'neu|neustarten',
    'redémarr(?:e|es|er|ez)|relanc(?:e|es|er|ez)',
    'reinici(?:a|ar|es|e|en)',
    'riavvi(?:a|are|arl[ao])',
    'reinici(?:em)',
  ],
  send: [
    '(?:ab|ver|zu)?send(?:e|en)|(?:ab|ver)?schick(?:e|en)|abzu(?:schicken|senden)|benachrichtig(?:e|en)',
    'envo(?:ie|ies|yer|yez)|expédi(?:e|es|er|ez)',
    'env[ií](?:a|ar|arl[ao]s?|es|e|en)|mand(?:ar|es|en)',
    'invi(?:a|are|arl[aoei]|i|ino)|mand(?:are|arl[aoei]|i)|spedi(?:re|sci|rl[ao])',
    'envie[sm]?|mandar',
  ],
  publish: [
    'veröffentlich(?:e|en)',
    'publi(?:e|es|er|ez)',
    'publi(?:ca|car|carl[ao]|ques?|quen)',
    'pubblic(?:a|are|arl[ao]|hi)',
    'publi(?:quem)',
  ],
  pay: [
    '(?:be)?zahl(?:e|en)|überweis(?:e|en)',
    'pay(?:er|ez|es)|pai(?:e|es)|vir(?:er|ez)',
    'pag(?:a|ar|ues?|uen|arlo)|transfier(?:as?|e)|transferir',
    'pag(?:are|hi|arl[ao])|trasferire|bonificare',
    'transfir(?:a|as)',
  ],
  order: [
    'bestell(?:e|en)|kauf(?:e|en)',
    'achet(?:er|ez)|achèt(?:e|es)|commander',
    'compr(?:ar|es|en)',
    'compr(?:are|i)|ordinare',
    'compr(?:em)|encomend(?:ar|e)',
  ],
  book: [
    'buch(?:e|en)|reservier(?:e|en)',
    'réserv(?:e|es|er|ez)',
    'reserv(?:ar|es|en)',
    'prenot(?:a|are|i)',
    'reserv(?:em)',
  ],
  print: [
    'druck(?:e|en)|ausdrucken',
    'imprim(?:e|es|er|ez)',
    'imprim(?:ir|as|an)',
    'stamp(?:a|are|i)',
    'imprim(?:am)',
  ],
  close: [
    'schließ(?:e|en)',
    'ferm(?:e|es|er|ez)',
    'cerrar|cierr(?:a|es|en)',
    'chiud(?:ere|i|a)',
    'fech(?:ar|e|es)',
  ],
  open: ['öffn(?:e|en)', 'ouvr(?:ir|e|es|ez)', 'abr(?:ir|as|an)', 'apr(?:ire|i)', 'abr(?:am)'],
  approve: [
    'genehmig(?:e|en)|freigeben',
    'approuv(?:e|es|er|ez)',
    'aprobar|aprueb(?:a|es|en)',
    'approv(?:a|are|i)',
    'aprov(?:ar|e|es)',
  ],
  sign: [
    'unterschreib(?:e|en)|signier(?:e|en)',
    'sign(?:er|ez)',
    'firm(?:ar|es|en)',
    'firm(?:are|i)',
    'assin(?:ar|e|es)',
  ],
  cancel: [
    'stornier(?:e|en)|kündig(?:e|en)',
    'annul(?:e|es|er|ez)|résili(?:e|es|er|ez)',
    'cancel(?:ar|es|en)|anul(?:ar|es)',
    'annull(?:a|are|i)|disdire',
    'cancel(?:em)',
  ],
  submit: [
    'einreich(?:e|en)',
    'soumett(?:re|ez|s)|dépos(?:e|es|er|ez)',
    'present(?:ar|es)',
    'presentare',
    'submet(?:er|a|as)',
  ],
  rename: [
    'umbenenn(?:e|en)',
    'renomm(?:e|es|er|ez)',
    'renombr(?:ar|es|a)',
    'rinomin(?:a|are|i)',
    'renome(?:ar|ie)',
  ],
  install: [
    'installier(?:e|en)',
    'install(?:er|ez|es)',
    'instal(?:ar|es|en)',
    'install(?:are|i)',
    'instal(?:em)',
  ],
  reset: [
    'zurücksetzen',
    'réinitialis(?:e|es|er|ez)',
    'restablec(?:er|as)',
    'resettare|azzerare',
    'redefin(?:ir|a)',
  ],
  disable: [
    'deaktivier(?:e|en)|abschalten|ausschalten',
    'désactiv(?:e|es|er|ez)',
    'desactiv(?:ar|es|a|en)',
    'disattiv(?:a|are|i)',
    'desativ(?:ar|e|es)',
  ],
  upload: [
    'hochladen',
    'téléverser|uploader',
    'sub(?:ir|as|an)',
    'caric(?:are|hi)',
    'carreg(?:ar|ue|ues)',
  ],
  share: [
    'teil(?:e|en)',
    'partag(?:e|es|er|ez)',
    'compart(?:ir|as|an)',
    'condivid(?:ere|i|a)',
    'compartilh(?:ar|e|es)',
  ],
  translate: [
    'übersetz(?:e|en)',
    'tradui(?:re|s|sez)',
    'traduc(?:ir|e)|traduzc(?:a|as)',
    'tradu(?:rre|ci)',
    'traduz(?:ir|a|as)',
  ],
  change: [
    '(?:ver|ab)?änder(?:e|n)|bearbeiten|anpassen',
    'modifi(?:e|es|er|ez)|changer',
    'modifi(?:ca|car|ques?|quen)|cambi(?:ar|es|a|en)',
    'modific(?:a|are|arl[ao]|hi)|cambi(?:are)',
    'alter(?:ar|es|em)|mud(?:ar|e|es)',
  ],
  touch: [
    'anfass(?:e|en)|anrühren',
    'touch(?:er|ez)',
    'toc(?:ar|ques?|quen)',
    'tocc(?:are|hi)',
    'mex(?:er|a|as)',
  ],
}

/** What a deed is done by in other languages, as whole words in lower case; null if none is known. */
export function abroad(deed: string): RegExp | null {
  const known = forms[deed]
  return known === undefined ? null : new RegExp(`^(?:${known.join('|')})$`, 'u')
}

/** Verbs that only carry the deed behind them: hacer push, fare push, faire un push. */
export const lightVerbs: ReadonlySet<string> = new Set(
  'mach mache machen haz hagas haga hagan hacer fai fare faccia fate faça faças façam fazer fais fait faites faire'.split(
    ' ',
  ),
)
