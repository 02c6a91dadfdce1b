import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { unicodeTables } from '../../model/unicode-tables.ts'
import { wordsOfEveryScript } from '../../src/core/detector/words/scripts.ts'
import {
  composed,
  kindOf,
  lowered,
  mark,
  separator,
  withAsciiDigits,
} from '../../src/core/detector/words/unicode.ts'
import { unicodeVersion } from '../../src/core/detector/words/unicode-tables.ts'
import { verifies } from '../verifies.ts'

const sameVersion = process.versions.unicode === unicodeVersion

// Every code point both the tables and this engine know. An engine of another version may lack
// what the tables have, or have what they take for a separator.
const known = Array.from({ length: 0x110000 }, (_, point) => point).filter((point) => {
  if (point >= 0xd800 && point <= 0xdfff) return false
  return sameVersion || (kindOf(point) !== separator && !/\p{Cn}/u.test(character(point)))
})

function character(point: number): string {
  return String.fromCodePoint(point)
}

// The host's own data is the reference, but for the sigma at the end of a word and ς.
function hostLowered(text: string): string {
  return [...text]
    .map((each) => each.toLowerCase())
    .join('')
    .replaceAll('ς', 'σ')
}

// What composition and ordering act on: letters with several marks, marks of many classes, exclusions,
// singletons, conjoining jamo, and letters that compose in one case only.
const interesting = [
  ...'aAeEoOuUiIıİsSkKjJtThHwWyY',
  ...'\u212a\u212b\u2126\u00c5\u00e4\u00f1\u1ec6\u1ed9\u01d5\u01d6\u1e69\u00df\u1e9e',
  ...'ΑαΙιΥυΩωΣσς\u03aa\u03ab\u0390\u03b0\u0386\u1f71\u1f82\u1f8a\u1fb3\u1fbe',
  ...'\u0300\u0301\u0302\u0303\u0304\u0307\u0308\u030a\u030c\u0313\u0323\u0327\u0328\u0331\u0338',
  ...'\u0334\u0340\u0341\u0342\u0343\u0344\u0345\u0360\u0361\u031b\u034f',
  ...'\u0928\u0929\u0915\u0958\u0921\u095c\u093c\u094d\u09c7\u09be\u09d7\u0bc6\u0bbe\u0bca\u1025\u102e',
  ...'\u0dd9\u0dca\u0ddd\u0f71\u0f72\u0f73\u0f74\u0f80\u0f81\u0e38\u0e48\u{11099}\u{110ba}\u{11131}',
  ...'\u{11127}\u{16d63}\u{16d67}\u{16d69}\u{1d157}\u{1d165}\u{1d16e}\u{1d15f}\u{1d160}\u{1e947}',
  ...'\u05e9\u05b0\u05bc\u05c1\u05f2\u05b7\ufb1f\ufb2a\ufb2c\u0627\u0622\u0623\u064a\u0626\u06d5\u06c0',
  ...'\u064b\u064e\u0651\u0653\u0654\u0655\u0670\u0640\u200d\u00ad\ufe0f',
  ...'\uac00\uac01\ud7a3\u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2\u1176\u302e',
  ...'かがはバー々\u3099\u309a\uf900\u{2f800}金',
  ..." '.=<-1٣",
]
const interestingText = fc.string({
  unit: fc.constantFrom(...new Set(interesting)),
  maxLength: 24,
})
const inWords = known.filter((point) => kindOf(point) !== separator)
const knownText = fc.string({
  unit: fc.nat(inWords.length - 1).map((index) => character(inWords[index]!)),
  maxLength: 12,
})
const anyText = fc.oneof(interestingText, knownText)

test('the tables are what the generator prints', { skip: !sameVersion }, () => {
  const checkedIn = new URL('../../src/core/detector/words/unicode-tables.ts', import.meta.url)
  assert.equal(readFileSync(checkedIn, 'utf8'), unicodeTables())
})

test('the tables agree with the host for every code point', () => {
  const wrong = known.filter((point) => {
    const text = character(point)
    const isWord = /^[\p{L}\p{N}]$/u.test(text)
    const isMark = /^\p{M}$/u.test(text)
    const kind = kindOf(point)
    return (
      isWord !== (kind !== separator && kind !== mark) ||
      isMark !== (kind === mark) ||
      lowered(text) !== hostLowered(text) ||
      composed(text) !== text.normalize('NFC') ||
      composed(text.normalize('NFD')) !== text.normalize('NFC') ||
      /^\p{Nd}$/u.test(text) !== /^[0-9]$/.test(withAsciiDigits(text))
    )
  })
  assert.deepEqual(wrong.map(character), [])
})

test('the tables order every two marks as the host does', { skip: !sameVersion }, () => {
  const marks = known.filter((point) => /\p{M}/u.test(character(point))).map(character)
  const ofEachClass = [...'\u0334\u{16ff0}\u093c\u3099\u094d\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5']
  ofEachClass.push(...'\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc\u05bd\u05bf\u05c1\u05c2\ufb1e\u064b')
  ofEachClass.push(...'\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0670\u0711\u0c55\u0c56\u0e38')
  ofEachClass.push(...'\u0e48\u0eb8\u0ec8\u0f71\u0f72\u0f74\u0321\u1dce\u031b\u1dfa\u0316\u059a')
  ofEachClass.push(...'\u302e\u1d16d\u05ae\u0301\u0315\u035c\u035d\u0345')
  const wrong = marks.flatMap((one) =>
    ofEachClass
      .flatMap((other) => [`x${one}${other}`, `x${other}${one}`])
      .filter((text) => composed(text) !== text.normalize('NFC')),
  )
  assert.deepEqual(wrong, [])
})

test('every code point takes two marks in the wrong order as the host does', () => {
  for (const point of known) {
    const text = `${character(point)}\u0301\u0327`
    if (composed(text) !== text.normalize('NFC')) assert.fail(point.toString(16))
  }
})

test('every Hangul syllable composes, from its letters and from a syllable and its tail', () => {
  for (let point = 0xac00; point < 0xac00 + 11172; point++) {
    const syllable = character(point)
    const [, , tail = ''] = syllable.normalize('NFD')
    const open = character(point - ((point - 0xac00) % 28))
    assert.equal(composed(syllable.normalize('NFD')), syllable)
    assert.equal(composed(open + tail), syllable)
  }
})

test('the digits of every script have their values', () => {
  for (const zero of '0٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀០᠐᥆᧐᭐꘠꧐꩐０𐒠𑁦𝟎𝟘𝟢𝟬𝟶🯰') {
    const ten = Array.from({ length: 10 }, (_, i) => character(zero.codePointAt(0)! + i))
    assert.equal(withAsciiDigits(ten.join('')), '0123456789')
  }
})

test('composition is the NFC of the host', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(composed(text), text.normalize('NFC'))
    }),
    { numRuns: 20_000 },
  )
})

test('lower case is that of the host but for the sigma', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(lowered(text), hostLowered(text))
    }),
    { numRuns: 2_000 },
  )
})

test('composing after lower-casing is as good as before and after it', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const both = hostLowered(text.normalize('NFC')).normalize('NFC')
      assert.equal(composed(lowered(text)), both)
    }),
    { numRuns: 20_000 },
  )
})

test('a text composed, decomposed or as it was typed has the same words', () => {
  verifies('detector.script.nfc')
  fc.assert(
    fc.property(anyText, (text) => {
      const words = wordsOfEveryScript(text)
      assert.deepEqual(wordsOfEveryScript(text.normalize('NFC')), words)
      assert.deepEqual(wordsOfEveryScript(text.normalize('NFD')), words)
    }),
    { numRuns: 20_000 },
  )
})

test('ASCII text has the words of the published pattern', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 60 }), (text) => {
      assert.deepEqual(wordsOfEveryScript(text), text.toLowerCase().match(/[a-z0-9']+/g) ?? [])
    }),
    { numRuns: 5_000 },
  )
})

test('no input throws, and no word has a capital, a separator or a mark in front', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      for (const word of wordsOfEveryScript(text)) {
        assert.match(word, /^[\p{L}\p{N}'][\p{L}\p{N}\p{M}']*$/u)
        assert.equal(lowered(word), word)
      }
    }),
    { numRuns: sameVersion ? 20_000 : 0 },
  )
  const halves = fc.constantFrom(
    '\ud83d',
    '\ude00',
    '\ud801',
    '\udc00',
    'a',
    '登',
    '\u00ad',
    '\u0301',
  )
  fc.assert(
    fc.property(fc.string({ unit: halves, maxLength: 12 }), (text) => {
      assert.ok(Array.isArray(wordsOfEveryScript(text)))
    }),
  )
})

const examples: [name: string, text: string, words: string][] = [
  ['Chinese in pairs', '修复登录问题', '修复 复登 登录 录问 问题'],
  ['one Chinese character', '修 一，二', '修 一 二'],
  ['Chinese between Latin', 'fix登录bug', 'fix 登录 bug'],
  ['digits between Chinese', '第3章 二〇二四年', '第 3 章 二〇 〇二 二四 四年'],
  ['Chinese beyond the basic plane', '𠮷野家', '𠮷野 野家'],
  ['a variation selector', '葛\u{e0100}城', '葛城'],
  ['a compatibility ideograph', '\uf900', '\u8c48'],
  ['Japanese, a run per script', '東京タワーへ行く', '東京 タワ ワー へ 行 く'],
  ['the long vowel mark after hiragana', 'らーめん', 'らー ーめ めん'],
  ['a shared mark before its script', '〆切 人々', '〆切 人々'],
  ['half-width katakana', 'ﾃｽﾄ', 'ﾃｽ ｽﾄ'],
  ['a mark that does not compose', 'あ\u3099い', 'あ\u3099い'],
  ['Thai', 'แก้ไข', 'แก้ ก้ไ ไข'],
  ['Lao', 'ນ້ຳໃຈ', 'ນ້ຳ ຳໃ ໃຈ'],
  ['Khmer with a subscript', 'ខ្មែរ', 'ខ្មែ មែរ'],
  ['Burmese', 'မြန်မာ', 'မြန် န်မာ'],
  ['Korean', '로그인 페이지를 고치다', '로그인 페이지를 고치다'],
  ['Korean in jamo', '로그인'.normalize('NFD'), '로그인'],
  ['Arabic', 'إصلاح صفحة الدخول', 'إصلاح صفحة الدخول'],
  ['Arabic with harakat', 'إِصْلَاحُ صَفْحَةِ الدُّخُولِ', 'إصلاح صفحة الدخول'],
  ['Arabic stretched', 'محمـــد', 'محمد'],
  ['a madda of its own', 'آن \u0627\u0653ن', 'آن آن'],
  ['a madda after a tatweel', '\u0627\u0640\u0653ن', 'آن'],
  ['Persian with a joiner left out', 'می\u200cخواهم', 'میخواهم'],
  ['Arabic digits', 'صفحة ١٢٣ ۴۵', 'صفحة 123 45'],
  ['Hebrew', 'תקן את דף־הכניסה', 'תקן את דף הכניסה'],
  ['Hebrew with points', 'תַּקֵּן אֶת', 'תקן את'],
  ['Hebrew presentation forms', '\ufb2a\ufb31', 'שב'],
  ['Hindi', 'लॉगिन पृष्ठ क्यों', 'लॉगिन पृष्ठ क्यों'],
  ['a nukta typed in two ways', 'सड़क सड\u093cक', 'सड\u093cक सड\u093cक'],
  ['Tamil', 'உள்நுழைவு பக்கம்', 'உள்நுழைவு பக்கம்'],
  ['Tibetan', 'བོད་སྐད', 'བོད སྐད'],
  ['Russian', 'Исправь вход, Ёж', 'исправь вход ёж'],
  ['Greek', 'Ο Σίσυφος ΣΊΣΥΦΟΣ', 'ο σίσυφοσ σίσυφοσ'],
  ['a letter composed in lower case only', 'Ϊ\u0301 ΐ', 'ΐ ΐ'],
  ['Turkish', 'İSTANBUL ışık', 'i\u0307stanbul ışık'],
  ['German', 'Größe der Übersicht', 'größe der übersicht'],
  ['Vietnamese', 'Tie\u0302\u0301ng Việt', 'tiếng việt'],
  ['no precomposed form', 'M\u0303a m\u0303a', 'm\u0303a m\u0303a'],
  ['the Kelvin and Ångström signs', '\u212aelvin \u212b', 'kelvin å'],
  ['full-width letters and digits', 'ＦＩＸ１２', 'ｆｉｘ12'],
  ['emoji', 'fix🙂bug ✔️👩‍💻done', 'fix bug done'],
  ['a soft hyphen', 'Über\u00adsicht', 'übersicht'],
  ['a zero-width space', 'é\u200bè', 'é è'],
  ['apostrophes', "l'été d’été l’ été '登录'", "l'été d'été l été ' 登录 '"],
  ['a mark in front', '\u0301a .\u0301é', 'a é'],
  ['lone surrogates', 'é\ud800b\udc00c', 'é b c'],
  ['halves around something invisible', '\ud801\u00ad\udc00', ''],
]

for (const [name, text, words] of examples) {
  test(`words: ${name}`, () => {
    assert.deepEqual(wordsOfEveryScript(text), words === '' ? [] : words.split(' '))
  })
}

test('a long run of marks, and a long run without spaces, are words like others', () => {
  const marks = '\u0301\u0323'.repeat(100_000)
  const ordered = `\u0323${'\u0323'.repeat(99_999)}${'\u0301'.repeat(100_000)}`
  assert.deepEqual(wordsOfEveryScript(`x${marks} y`), [`x${ordered}`, 'y'])
  assert.deepEqual(wordsOfEveryScript(`登${marks}录`), [`登${ordered}录`])
  assert.deepEqual(wordsOfEveryScript(marks), [])
  const pairs = wordsOfEveryScript('登录'.repeat(100_000))
  assert.equal(pairs.length, 199_999)
  assert.deepEqual(new Set(pairs), new Set(['登录', '录登']))
})
