import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokens } from '../src/encoder/tokens.ts'
import { createWordPiece } from '../src/encoder/word-piece.ts'

/** Texts and the pieces into which the tokenizer of all-MiniLM-L6-v2 splits them, as its own library says. */
const splits: readonly [text: string, pieces: string][] = [
  ['Fix the login bug in the auth service', 'fix the log ##in bug in the au ##th service'],
  ['check NTP on the auth host', 'check nt ##p on the au ##th host'],
  ['git push --force origin main', 'gi ##t push - - force origin main'],
  ['Refund order #1234, not 9876!', 'ref ##und order # 123 ##4 , not 98 ##7 ##6 !'],
  ["it's O'Reilly's well-known e-mail", "it ' s o ' reilly ' s well - known e - mail"],
  ['snake_case_name and camelCaseName', 'snake _ case _ name and camel ##case ##name'],
  ['src/core/detector/step.ts:42', 'sr ##c / core / detector / step . ts : 42'],
  ['https://example.com/a?b=c&d=%20e', 'https : / / example . com / a ? b = c & d = % 20 ##e'],
  ['user@example.com', 'user @ example . com'],
  ['$1,299.99 + 7% = €1.400', '$ 1 , 299 . 99 + 7 % = € ##1 . 400'],
  ['naïve café résumé Ångström', 'naive cafe resume ang ##strom'],
  ['ÀÉÎÕÜ ÇŞĞİ ßẞ', 'ae ##io ##u cs ##gi ß ##ß'],
  ['Straße und Übermaß prüfen', 'st ##raße und uber ##ma ##ß pr ##uf ##en'],
  ['Łódź, Kraków, Gdańsk', 'łodz , krakow , gdansk'],
  ['¿Dónde está la biblioteca?', '¿ don ##de est ##a la bi ##bl ##iot ##eca ?'],
  ["Réserve un vol pour Paris s'il te plaît", "reserve un vol pour paris s ' il te pl ##ai ##t"],
  ['ΣΊΣΥΦΟΣ Σας', 'σ ##ι ##σ ##υ ##φ ##ο ##σ σ ##α ##ς'],
  ['Привет, мир! Ёлка', 'п ##р ##и ##в ##е ##т , м ##и ##р ! е ##л ##ка'],
  ['修复登录错误', '[UNK] [UNK] [UNK] [UNK] [UNK] [UNK]'],
  ['東京の天気を調べる', '東 京 の 天 [UNK] を [UNK] へ ##る'],
  ['カタカナとひらがな', 'カ ##タ ##カ ##ナ ##と ##ひ ##ら ##か ##な'],
  [
    '한국어 로그인 오류를 고쳐 주세요',
    'ᄒ ##ᅡ ##ᆫ ##ᄀ ##ᅮ ##ᆨ ##ᄋ ##ᅥ ᄅ ##ᅩ ##ᄀ ##ᅳ ##ᄋ ##ᅵ ##ᆫ ᄋ ##ᅩ ##ᄅ ##ᅲ ##ᄅ ##ᅳ ##ᆯ ᄀ ##ᅩ ##ᄎ ##ᅧ ᄌ ##ᅮ ##ᄉ ##ᅦ ##ᄋ ##ᅭ',
  ],
  ['أصلح خطأ تسجيل الدخول', 'ا ##ص ##ل ##ح خ ##ط ##ا ت ##س ##ج ##ي ##ل ا ##ل ##د ##خ ##و ##ل'],
  ['लॉगिन बग ठीक करें', '[UNK] ब ##ग [UNK] क ##र'],
  ['แก้ไขข้อผิดพลาด', '[UNK]'],
  ['עברית שלום', 'ע ##ב ##ר ##י ##ת ש ##ל ##ו ##ם'],
  ['tiếng Việt có dấu', 'tie ##ng viet co da ##u'],
  ['ﬁnal ﬂow ½ ² ™ ①', 'ﬁ ##nal ﬂ ##ow ½ ² ™ [UNK]'],
  ['full width ＡＢＣ １２３', 'full width [UNK] [UNK]'],
  ['emoji 👍🏽 and 👨\u{200d}👩\u{200d}👧 family ❤️', 'em ##oj ##i [UNK] and [UNK] family [UNK]'],
  [
    'zero\u{200b}width\u{200d}joiner soft\u{ad}hyphen',
    'zero ##wi ##dt ##h ##jo ##iner soft ##hy ##ph ##en',
  ],
  [
    'tabs\u{9}and\u{a}new\u{d}\u{a}lines  and\u{a0}nbsp\u{3000}ideographic',
    'tab ##s and new lines and n ##bs ##p id ##eo ##graphic',
  ],
  [
    'control\u{7}bell\u{0}null�replaced\u{b}vertical',
    'control ##bell ##nu ##ll ##re ##placed ##vert ##ical',
  ],
  ['“curly” ‘quotes’ – dash — em… ellipsis', '“ curly ” ‘ quotes ’ – dash — em … el ##lip ##sis'],
  [
    '[brackets] {braces} <tags> `code` ~tilde^',
    '[ brackets ] { brace ##s } < tags > ` code ` ~ til ##de ^',
  ],
  [
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '[UNK]',
  ],
  [
    'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
    'bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb ##bb',
  ],
  [
    'supercalifragilisticexpialidocious antidisestablishmentarianism',
    'super ##cal ##if ##rag ##ilis ##tic ##ex ##pia ##lid ##oc ##ious anti ##dis ##est ##ab ##lish ##ment ##arian ##ism',
  ],
  ['', ''],
  ['   ', ''],
  ['𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 math', '[UNK] [UNK] [UNK] math'],
  ['x²+y²=z², ∑∫√∞ ≤≥≠', 'x ##² + y ##² = z ##² , [UNK] ≤ ##≥ ='],
]

// Of a longest match, the vocabulary of all pieces of the answers says the same as the whole one.
const pieces = [...new Set(splits.flatMap(([, answer]) => answer.split(' ')))].filter(Boolean)

test('splits texts of many scripts into the pieces of the vocabulary', () => {
  const split = createWordPiece(pieces)
  for (const [text, answer] of splits)
    assert.equal(
      split(text)
        .map((place) => pieces[place])
        .join(' '),
      answer,
      text,
    )
})

const vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[', ']', 'sep', ...'abcdefghij']

test('a text cannot name a special token', () => {
  const split = createWordPiece(vocabulary)
  assert.deepEqual(split('[SEP]'), [4, 6, 5])
})

test('a long text keeps two thirds of its tokens from its beginning and the rest from its end', () => {
  const tokens = createTokens(vocabulary)
  const said = (text: string, limit: number) =>
    tokens(text, limit)
      .map((token) => vocabulary[token])
      .join(' ')
  assert.equal(said('', 8), '[CLS] [SEP]')
  assert.equal(said('a b c d e f', 8), '[CLS] a b c d e f [SEP]')
  assert.equal(said('a b c d e f g h i j', 8), '[CLS] a b c d i j [SEP]')
  const long = `a ${'b '.repeat(50_000)}c`
  assert.equal(said(long, 8), '[CLS] a b b b b c [SEP]')
})
