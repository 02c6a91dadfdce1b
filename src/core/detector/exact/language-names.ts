/** The names of a language in the languages that users of agents write most: whole names, and stems that take an ending. */
const names: Record<string, string> = {
  english: 'english englisch- anglais- inglés inglese inglês',
  german: 'german deutsch- allemand- alemán tedesc- alemão',
  french: 'french französisch- français- francés francese francês',
  italian: 'italian- italienisch- italien-',
  spanish: 'spanish spanisch- espagnol- español- spagnol- espanhol-',
  portuguese: 'portuguese portugiesisch- portugais- portugués portoghese português',
  dutch: 'dutch niederländisch- holländisch- néerlandais- neerlandés holandés olandese holandês',
  polish: 'polish polnisch- polonais- polaco polacc- polonês',
  swedish: 'swedish schwedisch- suédois- sueco svedese',
  danish: 'danish dänisch- danois- danés danese dinamarquês',
  norwegian: 'norwegian norwegisch- norvégien- noruego norvegese norueguês',
  finnish: 'finnish finnisch- finnois- finés finlandés finlandese finlandês',
  czech: 'czech tschechisch- tchèque checo ceco tcheco',
  hungarian: 'hungarian ungarisch- hongrois- húngaro ungherese',
  romanian: 'romanian rumänisch- roumain- rumano rumeno romeno',
  greek: 'greek griechisch- grec grecque griego greco grego',
  turkish: 'turkish türkisch- turc turque turco',
  russian: 'russian russisch- russe ruso russo',
  ukrainian: 'ukrainian ukrainisch- ukrainien- ucraniano ucraino',
  arabic: 'arabic arabisch- arabe árabe arabo',
  hebrew: 'hebrew hebräisch- hébreu hebreo ebraico hebraico',
  hindi: 'hindi',
  chinese: 'chinese chinesisch- chinois- chino cinese chinês',
  japanese: 'japanese japanisch- japonais- japonés giapponese japonês',
  korean: 'korean koreanisch- coréen- coreano',
  vietnamese: 'vietnamese vietnamesisch- vietnamien- vietnamita',
  thai: 'thai thailändisch- thaï tailandés tailandese tailandês',
}

const whole = new Map<string, string>()
const stems = new Map<string, string>()
for (const [language, list] of Object.entries(names)) {
  for (const name of list.split(' ')) {
    if (name.endsWith('-')) stems.set(name.slice(0, -1), language)
    else whole.set(name, language)
  }
}

const endings = ['', 'e', 'en', 'er', 'es', 's', 'a', 'o', 'ne', 'i']

/** The language that a word names, in English; null if it names none. `italienisch`, `Italienische` and `italiano` are Italian. */
export function languageNamed(word: string): string | null {
  const lower = word.toLowerCase()
  const found = whole.get(lower)
  if (found !== undefined) return found
  for (const ending of endings) {
    if (!lower.endsWith(ending)) continue
    const language = stems.get(lower.slice(0, lower.length - ending.length))
    if (language !== undefined) return language
  }
  return null
}
