import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { wordsIn } from '../../src/core/acts/clauses.ts'
import { wordsOf } from '../../src/core/detector/words/words.ts'
import { verifies } from '../verifies.ts'
import { reasonsOf } from './replay.ts'

test('a goal is lower-cased before it is cut', () => {
  verifies('detector.tokens.lower-case')
  assertWords([
    ['FIX THE GATE', 'fix gate'],
    ['Fix The Gate', 'fix gate'],
    ['PARSING Files', 'fil pars'],
  ])
})

test('runs of a-z, 0-9 and the apostrophe are words, and everything else separates', () => {
  verifies('detector.tokens.pattern')
  assertWords([
    ["it's", "it's"],
    ["don't stop", "don't stop"],
    ["'", "'"],
    ["'' '", "' ''"],
    ['fix-the_gate/now', 'fix gate now'],
    ['v1.2.3 release', '2 3 release v1'],
    ['tab\tand\nnew line\x00nul', 'line new nul tab'],
    ['...---...', ''],
  ])
})

test('exactly the thirty stop words are dropped, before stemming', () => {
  verifies('detector.tokens.stop-words')
  const stopWords =
    'a an and as at be by for from i in into is it my of on or our out so that the then this to up we with your'
  assert.equal(stopWords.split(' ').length, 30)
  assertWords([
    [stopWords, ''],
    [stopWords.toUpperCase(), ''],
    ['are was you he not no do', 'are do he no not was you'],
    ['being', 'be'],
    ["the' 'the", "'the the'"],
  ])
})

test('a word of five characters or more loses one ending', () => {
  verifies('detector.tokens.stem')
  assertWords([
    ['classes', 'class'],
    ['class', 'clas'],
    ['processes', 'process'],
    ['process', 'proces'],
    ['statements', 'statement'],
    ['statement', 'state'],
    ['payments', 'payment'],
    ['running', 'runn'],
    ['things', 'th'],
    ['rings', 'r'],
    ['station', 'sta'],
    ['action', 'ac'],
    ['markedly', 'mark'],
    ['used', 'used'],
    ['user', 'user'],
    ['ment', 'ment'],
  ])
})

test('words are a set, sorted by code unit', () => {
  verifies('detector.tokens.set', 'detector.tokens.sorted')
  assertWords([
    ['fix fix the fix gate', 'fix gate'],
    ['gate fix', 'fix gate'],
    ['test tests testing tested tester testers', 'test'],
    ["b 10 9 a1 'x é", "'x 10 9 a1 b é"],
    ['ｚ 𠮷', '𠮷 ｚ'],
  ])
})

test('the published table of texts and tokens', () => {
  verifies('detector.tokens.table')
  assertWords([
    ['build the parser', 'build pars'],
    ['building a parser', 'build pars'],
    ['parse the file', 'file parse'],
    ['parsing files', 'fil pars'],
    ['parsed file', 'file pars'],
    ['users', 'us'],
    ['using', 'us'],
    ['used', 'used'],
    ['uses', 'uses'],
    ['user', 'user'],
    ['C++ and C#', 'c'],
    ['.NET', 'net'],
    ['node.js', 'js node'],
    ['fix_the/gate', 'fix gate'],
    ['the', ''],
    ['!!!', ''],
  ])
})

test('every script is spelled: the same goal is the errand, and another one is not', () => {
  verifies('detector.script.every')
  for (const [ground, same, other] of [
    ['修复登录页面', '修复登录页面', '发布新版本'],
    ['ログインを直す', 'ログインを直す', '請求書を送る'],
    ['로그인 페이지 수정', '로그인 페이지 수정', '보고서 작성'],
    ['إصلاح صفحة الدخول', 'إصلاح صفحة الدخول', 'كتابة التقرير'],
    ['исправить страницу входа', 'Исправить страницу входа', 'написать отчёт'],
    ['menú del café', 'MENÚ DEL CAFÉ', 'résumé naïf'],
  ]) {
    assert.deepEqual(reasonsOf([ground!, same!]), ['grounded', 'advancing'])
    assert.deepEqual(reasonsOf([ground!, other!]), ['grounded', 'goal-drift'])
  }
})

test('a goal composed and the same decomposed have the same words', () => {
  verifies('detector.script.nfc')
  for (const text of [
    'Übergröße éclair',
    'ログインが',
    '로그인 수정',
    'Tiếng Việt',
    'क़लम',
    'آخر',
  ]) {
    assert.deepEqual(wordsOf(text.normalize('NFD')), wordsOf(text.normalize('NFC')))
  }
})

test('placed words do not depend on the script of the text around them', () => {
  const text = fc.string({ unit: fc.constantFrom(..."aZ09_'- .,/é’"), maxLength: 40 })
  fc.assert(
    fc.property(text, (ascii) => {
      const alone = wordsIn(ascii)
      const beside = wordsIn(`${ascii} 日本`)
      assert.deepEqual(alone, beside.slice(0, -1))
      for (const { text, from, to } of alone) assert.equal(ascii.slice(from, to), text)
    }),
  )
})

function assertWords(rows: readonly [text: string, words: string][]): void {
  for (const [text, words] of rows) {
    assert.equal(wordsOf(text).join(' '), words, JSON.stringify(text))
  }
}
