import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readCorpus } from '../../src/core/corpus/corpus.ts'
import { readRows } from '../../src/core/corpus/csv.ts'
import {
  type CorpusDrift,
  maxDistinctWords,
  maxWindows,
  measureCorpus,
} from '../../src/core/corpus/windows.ts'
import { rawWords } from '../../src/core/detector/words/words.ts'
import { createRandom } from '../../src/core/evaluation/resampling.ts'
import type { Fault } from '../../src/core/runs/field-reader.ts'
import { verifies } from '../verifies.ts'

/** What is said of a body, and how many times others got their turn. */
function measure(
  body: unknown,
  contentType = 'application/json',
  parameters: Record<string, string> = {},
): { measured: CorpusDrift | Fault; turns: number } {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const corpus = readCorpus(text, contentType, parameters)
  if ('fault' in corpus) return { measured: corpus, turns: 0 }
  const work = measureCorpus(corpus)
  let turns = 0
  let slice = work.next()
  for (; !slice.done; slice = work.next()) turns += 1
  return { measured: slice.value, turns }
}

function driftOf(...sent: Parameters<typeof measure>): CorpusDrift {
  const { measured } = measure(...sent)
  if ('fault' in measured) throw new Error(measured.fault)
  return measured
}

function faultOf(...sent: Parameters<typeof measure>): string {
  const { measured } = measure(...sent)
  if (!('fault' in measured)) throw new Error('no fault')
  return measured.fault
}

const billing = 'invoice payment refund customer card charge receipt amount tax bank due balance'
const garden = 'tomato seed soil water root leaf prune bloom compost frost harvest spade'

/** Lines of six words each, of one subject, the same for the same seed. */
function linesOn(subject: string, count: number, seed = 1): string[] {
  const words = subject.split(' ')
  const random = createRandom(seed)
  return Array.from({ length: count }, () =>
    Array.from({ length: 6 }, () => words[Math.floor(random() * words.length)]).join(' '),
  )
}

describe('windows', () => {
  test('five lines against five, by hand', () => {
    verifies('data.windows', 'data.window-fields')
    // x x x y y against x y y z z: S = 3·1/4 + 2·2/4 = 1.75, and E = 25/100 · 10·7/9 = 1.94.
    const lines = ['x', 'x', 'x', 'y', 'y', 'z', 'x', 'y', 'y', 'z']
    assert.deepEqual(driftOf({ lines, window: 5 }), {
      windows: [
        {
          index: 0,
          from: 0,
          to: 4,
          phi: 0,
          goal_score: 1,
          drifting: false,
          top_new: [],
          top_lost: [],
        },
        {
          index: 1,
          from: 5,
          to: 9,
          phi: 0.1,
          goal_score: 0.67,
          drifting: false,
          top_new: ['z'],
          top_lost: [],
        },
      ],
      first_drift: null,
      max_phi: 0.1,
      mean_phi: 0.1,
      tokens: 10,
      unusable_lines: 0,
    })
  })

  test('phi 0 is what dealing the same words at random gives on average', () => {
    // Every way to deal six words into a first window of five lines and a last one of three.
    const words = ['p', 'p', 'p', 'q', 'q', 'r', 's', 's']
    const counted: number[] = []
    for (const first of subsetsOf(words.length, 5)) {
      const counts = new Map<string, [number, number]>()
      for (const [place, word] of words.entries()) {
        const [a, b] = counts.get(word) ?? [0, 0]
        counts.set(word, first.has(place) ? [a + 1, b] : [a, b + 1])
      }
      counted.push([...counts.values()].reduce((sum, [a, b]) => sum + (a * b) / (a + b), 0))
    }
    const mean = counted.reduce((sum, each) => sum + each, 0) / counted.length
    // Dealt as p p q r s | p q s they share S = 2/3 + 1/2 + 1/2.
    const { windows } = driftOf({ lines: ['p', 'p', 'q', 'r', 's', 'p', 'q', 's'], window: 5 })
    assert.equal(windows[1]?.phi, Number(Math.max(0, 1 - (2 / 3 + 1) / mean).toFixed(2)))
    const apart = driftOf({ lines: ['p', 'p', 'p', 'r', 's', 'q', 'q', 's'], window: 5 })
    assert.equal(apart.windows[1]?.phi, Number((1 - 0.5 / mean).toFixed(2)))
  })

  test('another subject drifts, and the window where it begins is named', () => {
    verifies('data.windows', 'data.means', 'data.window-fields')
    const lines = [...linesOn(billing, 60), ...linesOn(garden, 40)]
    const { windows, first_drift, max_phi, mean_phi } = driftOf({ lines })
    assert.deepEqual(
      windows.map(({ index, from, to, drifting }) => [index, from, to, drifting]),
      [
        [0, 0, 19, false],
        [1, 20, 39, false],
        [2, 40, 59, false],
        [3, 60, 79, true],
        [4, 80, 99, true],
      ],
    )
    assert.deepEqual([first_drift, max_phi], [3, 1])
    const later = windows.slice(1).map(({ phi }) => phi)
    assert.ok(Math.abs(mean_phi - later.reduce((sum, phi) => sum + phi, 0) / 4) < 0.01)
    for (const { phi, goal_score } of windows.slice(1, 3)) {
      assert.ok(phi < 0.1 && goal_score > 0.9)
    }
    const { phi, goal_score, top_new, top_lost } = windows[3]!
    assert.deepEqual([phi, goal_score], [1, 0])
    assert.equal(top_new.length, 10)
    for (const word of top_new) assert.ok(garden.split(' ').includes(word), word)
    for (const word of top_lost) assert.ok(billing.split(' ').includes(word), word)
  })

  test('a corpus of one window says so', () => {
    verifies('data.means')
    const { windows, first_drift, max_phi, mean_phi } = driftOf({ text: 'one line' })
    assert.deepEqual([windows.length, windows[0]?.to], [1, 0])
    assert.deepEqual([first_drift, max_phi, mean_phi], [null, 0, 0])
  })

  test('the top words are the most frequent, as they are written', () => {
    verifies('data.window-fields')
    const first = ['refunds refunded', 'refunds', 'cards', 'card', 'cards']
    const second = ['gardens', 'Gardens gardener', 'tomato', 'the card', 'tomato gardens']
    const { windows } = driftOf({ lines: [...first, ...second], window: 5 })
    assert.deepEqual(windows[1]?.top_new, ['gardens', 'tomato'])
    assert.deepEqual(windows[1]?.top_lost, ['refunds'])
  })

  test('a partial last window counts from half full', () => {
    verifies('data.partial', 'data.window-size')
    for (const [count, window, windows] of [
      [20, undefined, 1],
      [29, undefined, 1],
      [30, undefined, 2],
      [39, undefined, 2],
      [40, undefined, 2],
      [7, 5, 1],
      [8, 5, 2],
      [1000, 1000, 1],
      [1499, 1000, 1],
      [1500, 1000, 2],
      [3, 5, 1],
    ] as const) {
      const lines = linesOn(billing, count)
      const drift = driftOf({ lines, ...(window === undefined ? {} : { window }) })
      assert.equal(drift.windows.length, windows, `${count} lines`)
      assert.equal(drift.windows.at(-1)?.to, Math.min(count, windows * (window ?? 20)) - 1)
      assert.equal(drift.tokens, 6 * count)
    }
  })

  test('lines with nothing to compare are passed over, and keep their numbers', () => {
    verifies('data.window-fields')
    const lines = linesOn(billing, 20).flatMap((line) => ['', line, ' --- ', 'the of and'])
    const { windows, tokens, unusable_lines } = driftOf({ lines, window: 10 })
    assert.deepEqual(
      windows.map(({ from, to }) => [from, to]),
      [
        [1, 37],
        [41, 77],
      ],
    )
    assert.equal(unusable_lines, 60)
    assert.equal(tokens, 20 * (6 + 3), 'stop words are counted')
  })

  test('lines of one kind do not drift, however short or long the windows', () => {
    const vocabulary = Array.from({ length: 2000 }, (_, place) => `word${place}`)
    const random = createRandom(7)
    // Word n is drawn in proportion to 1 / n, as words of ordinary text are.
    const draw = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1]
    for (const [window, most] of [
      [5, 0.02],
      [20, 0.01],
      [60, 0],
    ] as const) {
      const lines = Array.from({ length: 200 * window }, () =>
        Array.from({ length: 8 }, draw).join(' '),
      )
      const { windows, mean_phi } = driftOf({ lines, window })
      const drifting = windows.filter((each) => each.drifting).length
      assert.ok(drifting <= most * windows.length, `${drifting} of ${windows.length} at ${window}`)
      assert.ok(mean_phi < 0.15, `${mean_phi} at ${window}`)
    }
  })

  test('too few words are no evidence', () => {
    const lines = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1', 'i1', 'j1']
    const { windows, first_drift } = driftOf({ lines, window: 5 })
    assert.deepEqual([windows[1]?.phi, windows[1]?.goal_score, first_drift], [1, 0, null])
  })

  test('every script is read', () => {
    const first = ['修复登录页面', '登录页面错误', '修复登录', '登录错误', '修复页面']
    const other = ['西红柿种子土壤', '土壤种子', '西红柿土壤', '种子西红柿', '西红柿种子']
    const lines = [...first, ...first, ...other]
    const { windows, first_drift } = driftOf({ lines, window: 5 })
    assert.deepEqual([windows[1]?.phi, first_drift], [0, 2])
    assert.ok(windows[2]?.top_new.includes('种子'))
  })

  test('more windows or words than can be answered are refused', () => {
    const lines = (count: number) => Array(count).fill('x').join('\n')
    const text = lines(5 * maxWindows)
    assert.equal(driftOf({ text, window: 5 }).windows.length, maxWindows)
    assert.match(faultOf({ text: `${text}\nx`, window: 5 }), /^window: .*20000/)
    const words = Array.from({ length: maxDistinctWords + 1 }, (_, place) => `w${place}`).join(' ')
    assert.match(faultOf({ text: words }), /^window: .*200000/)
  })

  test('others get their turn, with long lines and with short ones', () => {
    const megabyte = linesOn(billing, 25_000).join('\n')
    for (const text of [megabyte, megabyte.replaceAll('\n', ' '), '\n'.repeat(100_000)]) {
      const { turns } = measure({ text: `${text}\nend` })
      assert.ok(turns >= text.length / 70_000, `${turns} turns`)
    }
    const long = Array.from({ length: 50_000 }, (_, place) => `word${place % 900}`).join(' ')
    assert.equal(driftOf({ text: long }).tokens, rawWords(long).length)
    const unbroken = 'x'.repeat(300_000)
    assert.ok(driftOf({ text: unbroken }).tokens < 10)
  })

  test('whatever is sent, the answer holds what it promises', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'the', 'pay the invoice', 'water the tomato', '登录'),
      fc.string({ unit: 'binary', maxLength: 30 }),
    )
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 120, size: 'max' }),
        fc.integer({ min: 5, max: 15 }),
        (lines, window) => {
          const { measured } = measure({ lines, window })
          if ('fault' in measured) return assert.match(measured.fault, /at least one line/)
          const { windows, first_drift, max_phi, mean_phi } = measured
          let end = -1
          for (const [index, each] of windows.entries()) {
            assert.equal(each.index, index)
            assert.ok(each.from > end && each.to >= each.from)
            end = each.to
            for (const score of [each.phi, each.goal_score]) {
              assert.ok(score >= 0 && score <= 1)
              assert.equal(score, Number(score.toFixed(2)))
            }
            assert.ok(each.top_new.length <= 10 && each.top_lost.length <= 10)
          }
          assert.deepEqual([windows[0]?.phi, windows[0]?.goal_score], [0, 1])
          const drifting = windows.findIndex((each) => each.drifting)
          assert.equal(first_drift, drifting < 0 ? null : drifting)
          assert.equal(max_phi, Math.max(0, ...windows.slice(1).map(({ phi }) => phi)))
          assert.ok(mean_phi <= max_phi)
        },
      ),
    )
  })
})

function subsetsOf(size: number, chosen: number): Set<number>[] {
  const subsets: Set<number>[] = []
  for (let bits = 0; bits < 2 ** size; bits++) {
    const places = Array.from({ length: size }, (_, place) => place)
    const subset = new Set(places.filter((place) => (bits >> place) & 1))
    if (subset.size === chosen) subsets.push(subset)
  }
  return subsets
}

describe('forms', () => {
  const lines = linesOn(billing, 45)
  const expected = driftOf({ lines })

  test('each form gives the same lines', () => {
    verifies('data.forms', 'data.no-column')
    const ndjson = 'application/x-ndjson'
    const quoted = lines.map((line) => `"${line.replaceAll(' ', '\n')}"`)
    for (const [name, sent] of Object.entries<Parameters<typeof measure>>({
      text: [{ text: lines.join('\n') }],
      'text with CRLF': [{ text: `${lines.join('\r\n')}\r\n` }],
      documents: [{ documents: [lines.slice(0, 7).join('\n'), lines.slice(7).join('\n')] }],
      'documents that end with a line end': [{ documents: lines.map((line) => `${line}\n`) }],
      plain: [lines.join('\n'), 'text/plain'],
      'plain with a window': [lines.join('\n'), 'text/plain', { window: '20' }],
      'csv column': [
        ['id, note ,x', ...quoted.map((cell, id) => `${id},${cell},y`)].join('\r\n'),
        'text/csv',
        { column: 'note' },
      ],
      'csv rows': [quoted.map((cell) => cell.replace('\n', '",,"')).join('\n'), 'text/csv'],
      'ndjson field': [
        lines.map((note) => JSON.stringify({ id: 'ignored', note, x: 1 })).join('\n'),
        ndjson,
        { field: 'note' },
      ],
      'ndjson strings': [
        lines
          .map((line) => line.split(' '))
          .map(([first, ...rest]) => JSON.stringify({ first, x: 5, deep: [null, { rest }] }))
          .join('\n'),
        ndjson,
      ],
      'ndjson texts': [lines.map((line) => JSON.stringify(line)).join('\r\n'), ndjson],
      'any other type': [{ lines }, 'application/x-www-form-urlencoded'],
      'no type': [{ lines, window: null, text: null }, ''],
    })) {
      assert.deepEqual(driftOf(...sent), expected, name)
    }
  })

  test('lines without the column or the field are passed over', () => {
    verifies('data.forms')
    const csv = `a,b\n${lines.map((line) => `x\nx,${line}`).join('\n')}`
    assert.equal(driftOf(csv, 'text/csv', { column: 'b' }).unusable_lines, 45)
    const rows = lines.flatMap((b) => [{ a: 'x' }, { b }, { b: 5 }, null, 'x', ['x'], { b: [b] }])
    const ndjson = rows.map((row) => JSON.stringify(row)).join('\n')
    const read = driftOf(`${ndjson}\n\n`, 'application/x-ndjson', { field: 'b' })
    assert.equal(read.unusable_lines, 6 * 45 + 1)
    assert.equal(read.tokens, expected.tokens)
  })

  test('inherited names are no fields', () => {
    for (const field of ['toString', '__proto__', 'constructor']) {
      assert.match(faultOf('{}\n[]', 'application/x-ndjson', { field }), /^body: /)
    }
  })

  test('lines nested deeper than a stack are read', () => {
    const line = `${'['.repeat(200_000)}"deep"${']'.repeat(200_000)}`
    assert.equal(driftOf(line, 'application/x-ndjson').tokens, 1)
  })

  test('nothing to measure is a fault', () => {
    verifies('data.empty')
    for (const sent of [
      [{ text: '' }],
      [{ text: ' \n\r\n \t the of and ... ' }],
      [{ lines: [] }],
      [{ lines: ['', '!'] }],
      [{ documents: [] }],
      ['', 'text/plain'],
      ['', 'text/csv'],
      ['a,b', 'text/csv', { column: 'a' }],
      ['', 'application/x-ndjson'],
      ['{"a":5}\n7\nnull', 'application/x-ndjson'],
      ['{"a":"text"}', 'application/x-ndjson', { field: 'b' }],
    ] as Parameters<typeof measure>[]) {
      assert.match(faultOf(...sent), /^body: send at least one line with a word/)
    }
  })

  test('a fault names the field and what to send', () => {
    verifies('data.window-size', 'data.forms')
    for (const [sent, detail] of [
      [['nonsense'], /^body: send a JSON object with text, lines or documents/],
      [['[]'], /^body: /],
      [['null'], /^body: /],
      [[{}], /^body: send one of text, lines and documents, not 0/],
      [[{ text: 'a', lines: ['a'] }], /^body: .* not 2/],
      [[{ text: 5 }], /^text: send a text/],
      [[{ lines: 'a' }], /^lines: send a list/],
      [[{ lines: ['a', 'b', null] }], /^lines\.2: send a text/],
      [[{ documents: [['a']] }], /^documents\.0: send a text/],
      ...[4, 1001, 0, -20, 20.5, '20', true, [20]].map((window) => [
        [{ lines, window }],
        /^window: send a whole number of lines from 5 to 1000/,
      ]),
      ...['4', '1001', '', '-5', '2e1', ' 20', '9'.repeat(400)].map((window) => [
        [lines.join('\n'), 'text/plain', { window }],
        /^window: /,
      ]),
      [['a,b\n1,2', 'text/csv', { column: 'c' }], /^column: .*: a, b$/],
      [[`${'long,'.repeat(900)}\n1`, 'text/csv', { column: 'c' }], /^column: .{1,300}$/],
      [['a\n1\n"2', 'text/csv'], /^row 2: close the quotation mark/],
      [['{}\n{', 'application/x-ndjson'], /^line 1: send a JSON value/],
    ] as [Parameters<typeof measure>, RegExp][]) {
      assert.match(faultOf(...sent), detail)
    }
    for (const window of [5, 1000]) assert.equal(driftOf({ lines, window }).windows[0]?.from, 0)
  })
})

describe('comma-separated values', () => {
  function rowsOf(text: string): { rows: string[][]; fault: string | null } {
    const work = readRows(text)
    const rows: string[][] = []
    let row = work.next()
    for (; !row.done; row = work.next()) rows.push(row.value)
    return { rows, fault: row.value }
  }

  test('are read as RFC 4180 has them', () => {
    verifies('data.forms')
    for (const [text, rows] of [
      ['', []],
      ['a', [['a']]],
      ['a\n', [['a']]],
      [
        'a,b\r\nc,d\r\n',
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
      ],
      [
        'a,b\nc,d',
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
      ],
      [
        'a,b\rc,d\r',
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
      ],
      ['a\n\nb', [['a'], [''], ['b']]],
      [',', [['', '']]],
      [
        'a,\n,b',
        [
          ['a', ''],
          ['', 'b'],
        ],
      ],
      [' a , b ', [[' a ', ' b ']]],
      ['"a","b"', [['a', 'b']]],
      ['""', [['']]],
      ['"",""\n""', [['', ''], ['']]],
      ['"a,b","c\r\nd\ne"\r\nf', [['a,b', 'c\r\nd\ne'], ['f']]],
      ['"a ""b"" c"', [['a "b" c']]],
      ['"""",""""""', [['"', '""']]],
      ['"a""\nb"', [['a"\nb']]],
      // Outside the standard.
      ['5" pipe,b "c"', [['5" pipe', 'b "c"']]],
      ['"a"b,c', [['ab', 'c']]],
      ['"a" "b",c', [['a "b"', 'c']]],
    ] as const) {
      assert.deepEqual(rowsOf(text), { rows, fault: null }, JSON.stringify(text))
    }
  })

  test('say where a quotation mark is not closed', () => {
    for (const [text, rows] of [
      ['"', 0],
      ['a,"b', 0],
      ['a\n"b""', 1],
      ['"a"\nb,"""', 1],
    ] as const) {
      assert.match(rowsOf(text).fault ?? '', new RegExp(`^row ${rows}: close the quotation mark`))
    }
    assert.match(rowsOf(','.repeat(20_000)).fault ?? '', /^row 0: send at most 10000 fields/)
  })

  test('come back as they were written', () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '登') })
    const table = fc.array(fc.array(field, { minLength: 1, maxLength: 5 }), { maxLength: 8 })
    const write = (rows: string[][]) =>
      rows.map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(',')).join('\r\n')
    fc.assert(
      fc.property(table, (rows) => {
        assert.deepEqual(rowsOf(write(rows)), { rows, fault: null })
      }),
    )
  })

  test('any text is read to its end', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r') }), (text) => {
        const { rows, fault } = rowsOf(text)
        const kept = rows
          .flat()
          .join('')
          .replaceAll(/[",\r\n]/g, '').length
        if (fault === null) assert.equal(kept, text.replaceAll(/[^a]/g, '').length)
      }),
    )
  })
})
