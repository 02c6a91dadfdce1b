import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readClaudeCode } from '../../../src/core/hosts/claude-code.ts'
import { readCommand } from '../../../src/core/hosts/commands.ts'
import { errorClassOf, exitCodeOf, failingOf } from '../../../src/core/hosts/failures.ts'
import { digestOf } from '../../../src/core/hosts/fields.ts'
import { placeOf, placesOf } from '../../../src/core/hosts/paths.ts'
import { verifies } from '../../verifies.ts'
import { factsOf } from './told.ts'

const root = '/home/kim/kiosk'

test('the family of a command and its words', () => {
  verifies('hosts.private')
  for (const [line, family, words] of [
    ['npm test', 'verify', 'npm test'],
    ['npm run test:unit', 'verify', 'npm run test:unit'],
    ['npx vitest run', 'verify', 'npx vitest run'],
    ['node --test test/a.test.ts', 'verify', 'node --test test/a.test.ts'],
    ['node --import ./x.js --test a.ts', 'verify', 'node --import x.js --test a.ts'],
    ['python3 -m pytest tests', 'verify', 'python3 -m pytest tests'],
    ['uv run pytest -q', 'verify', 'uv run pytest -q'],
    ['go test ./...', 'verify', 'go test ...'],
    ['cargo clippy', 'verify', 'cargo clippy'],
    ['./node_modules/.bin/jest', 'verify', 'node_modules/.bin/jest'],
    ['cd /home/kim/kiosk && npm test 2>&1 | tail -5', 'verify', 'cd . npm test 2>&1 tail -5'],
    ['sudo timeout 60 make', 'verify', 'sudo timeout 60 make'],
    ['git status & npm test', 'verify', 'git status npm test'],
    ["bash -lc 'npm test'", 'verify', 'npm test'],
    ['bash -c "cat \\"a.ts\\""', 'read', 'cat a.ts'],
    ['npm run dev', 'run', 'npm run dev'],
    ['pip install pytest', 'run', 'pip install pytest'],
    ['git add test', 'run', 'git add test'],
    ['test -f package.json', 'run', 'test -f package.json'],
    ['grep -rn till src', 'search', 'grep -rn till src'],
    ['rg "receipt printer" src', 'search', 'rg receipt printer src'],
    ['cat src/a.ts | grep till', 'search', 'cat src/a.ts grep till'],
    ['find . -name "*.ts"', 'search', 'find . -name *.ts'],
    ['cat src/a.ts', 'read', 'cat src/a.ts'],
    ['ls -la /home/kim/kiosk/src/', 'read', 'ls -la src'],
    ['cat src/one/rather/deep/folder/of/printers.ts', 'read'],
    ['npm run highlighting-for-skeleton-screens', 'run'],
    ['curl https://till.example/v1', 'web', 'curl https://till.example/v1'],
    ['sleep 30', 'wait', 'sleep 30'],
    ['sleep 3 && ls', 'run', 'sleep 3 ls'],
    ['', 'run', ''],
    [' ; ', 'run', ''],
  ] as const) {
    assert.deepEqual(readCommand(line, root), { family, words: words ?? line }, line)
  }
})

test('values of flags, assignments, queries and secrets of a command are not kept', () => {
  verifies('hosts.private')
  for (const [line, words] of [
    ['PIN=hush npm start', 'PIN=… npm start'],
    ['PIN="hush hush" npm start', 'PIN=… npm start'],
    ['export TILL_PIN=hush', 'export TILL_PIN=…'],
    ['$env:PIN = "x"; $env:PIN="hush"', '$env:PIN = x $env:PIN=…'],
    ['java -Dtill.pin=hush Till', 'java -Dtill.pin=… Till'],
    ['till --pin=hush open', 'till --pin=… open'],
    ['till --pin="hush hush" open', 'till --pin=… open'],
    ['till --api-key hush open', 'till --api-key … open'],
    ['till --drawer-password hush', 'till --drawer-password …'],
    ['till --note "hush hush" open', 'till --note … open'],
    ['git commit -am "hush hush"', 'git commit -am …'],
    ['node -e "print(\'hush\')"', 'node -e …'],
    ['mysql -phush till', 'mysql -p… till'],
    ['docker login -u hush -p hush', 'docker login -u … -p …'],
    ['curl -H "Authorization: Bearer hush" till.example', 'curl -H … till.example'],
    ["curl -H 'X-Pin: hush' till.example", 'curl -H … till.example'],
    ['curl --data "{\\"pin\\": \\"hush\\"}" till.example', 'curl --data … till.example'],
    ['http GET till.example "Authorization: Bearer hush"'],
    ['aws configure set aws_secret_access_key hush'],
    ['curl https://kim:hush@till.example/v1?pin=hush#hush', 'curl https://till.example/v1'],
    ['curl "till.example/v1?pin=hush&x=1"', 'curl till.example/v1'],
    ['bash -c "curl -H \'X-Pin: hush\' till.example"', 'curl -H … till.example'],
    ['echo "hush hush" > a.txt', 'echo … > a.txt'],
    ["printf 'hush' | till", 'printf … till'],
    ['cat > a.txt <<EOF\nhush hush\nEOF\nls src', 'cat > a.txt ls src'],
    ["cat <<'END' > a.txt\nhush", 'cat > a.txt'],
  ] as const) {
    const kept = readCommand(line, root).words
    assert.doesNotMatch(kept, /hush/, line)
    if (words !== undefined) assert.equal(kept, words)
  }
  for (const secret of [
    `sk${'-'}aaaabbbbcccc`,
    `ghp${'_'}aaaabbbbcccc`,
    `AKIA${'B7'.repeat(8)}`,
    'a1'.repeat(16),
    `${'aB3/'.repeat(10)}`,
  ]) {
    assert.equal(readCommand(`till open ${secret}`, root).words, 'till open …')
    assert.ok(!readCommand(`curl https://till.example/${secret}`, root).words.includes(secret))
  }
})

test('no quoted value of a flag is kept, whatever it holds', () => {
  verifies('hosts.private')
  const value = fc.string({ maxLength: 40 }).map((text) => `<hush ${text} hush>`)
  const flag = fc.constantFrom('-m', '--message', '-H', '--till-note', '-e')
  fc.assert(
    fc.property(value, flag, (text, name) => {
      const single = `till ${name} '${text.replaceAll("'", '')}' open`
      const double = `till ${name} ${JSON.stringify(text)} open`
      for (const line of [single, double]) {
        assert.equal(readCommand(line, root).words, `till ${name} … open`)
      }
    }),
  )
})

test('of any line the words are few and short, and it is read without an error', () => {
  verifies('hosts.private', 'hosts.bounded')
  const bits = fc.constantFrom('"', "'", '\\', '<<E\n', ' -m ', 'bash -c ', '$HOME/', '|', '~/a')
  const line = fc.array(fc.oneof(bits, fc.string()), { maxLength: 60 })
  fc.assert(
    fc.property(line, (parts) => {
      const { words } = readCommand(parts.join(''), root)
      assert.ok(words.length <= 24 * 82)
    }),
    { numRuns: 500 },
  )
  assert.ok(readCommand('"\\'.repeat(500_000), root).words.length < 100)
})

test('a command in a list keeps its words apart', () => {
  verifies('hosts.private')
  for (const [command, family, words] of [
    [['bash', '-lc', 'npm test'], 'verify', 'npm test'],
    [['git', 'commit', '-m', 'hush hush'], 'run', 'git commit -m …'],
  ]) {
    const event = { hook_event_name: 'PostToolUse', session_id: 's', cwd: root }
    const [act] = readClaudeCode({ ...event, tool_name: 'Bash', tool_input: { command } })
    const facts = factsOf(act === undefined ? [] : [act])
    assert.deepEqual([facts[0]?.family, facts[0]?.words], [family, words])
  }
})

test('of places outside the project only the last part is kept', () => {
  verifies('hosts.private')
  for (const [line, words] of [
    ['cat /etc/shelf/list', 'cat ~/…/list'],
    ['cat ~/.shelf/list', 'cat ~/…/list'],
    ['cat $HOME/shelf/list', 'cat ~/…/list'],
    ['cat ../shelf/list', 'cat ~/…/list'],
    ['cat "/home/kim/My Shelf/list"', 'cat ~/…/list'],
    ['cat file:///home/kim/shelf/list', 'cat ~/…/list'],
    ['ls>/home/kim/shelf/list', 'ls>~/…/list'],
    ['scp kim@host:/home/shelf/list .', 'scp kim@host:~/…/list .'],
  ] as const) {
    assert.equal(readCommand(line, root).words, words)
  }
  for (const [path, place] of [
    [`${root}/src/a.ts`, 'src/a.ts'],
    [root, '.'],
    [`${root}/`, '.'],
    ['./src/a.ts', 'src/a.ts'],
    [`file://${root}/a.ts`, 'a.ts'],
    [`${root}2/a.ts`, '~/…/a.ts'],
    [`${root}/../shelf/a.ts`, '~/…/a.ts'],
    ['src/../../shelf/a.ts', '~/…/a.ts'],
    ['src/../a.ts', 'a.ts'],
    ['C:\\shelf\\a.ts', '~/…/a.ts'],
    ['~/shelf/a.ts', '~/…/a.ts'],
    ['..', '~/…/..'],
    ['/', '~/…/'],
  ] as const) {
    assert.equal(placeOf(path, root), place)
  }
  assert.equal(placeOf('C:\\kiosk\\src\\a.ts', 'C:\\kiosk'), 'src/a.ts')
  assert.deepEqual(placesOf(['a', ' ', 3, './a', `${root}/b`], root), ['a', 'b'])
  const many = Array.from({ length: 30 }, (_, nth) => `file${nth}`)
  assert.equal(placesOf(many, root).length, 8)
})

test('errors that differ in numbers, quotes, places and times are of one class', () => {
  verifies('hosts.private')
  for (const [one, other] of [
    ['Error: drawer 3 is open', 'Error: drawer 14 is open'],
    ['Error: cannot open "a"', 'Error: cannot open "bcd"'],
    ['error in /home/kim/kiosk/src/till.ts:3:9', 'error in /srv/other/src/till.ts:502:1'],
    ['fatal: gone for 12ms', 'fatal: gone for 3.5s'],
    ['error at 0xbeef', 'error at 0x12'],
    ['error at 2026-01-02T03:04:05Z', 'error at 2025-11-12T13:14:15Z'],
    ['opened\nError: no paper\n  at a', 'began\nwaited\nError: no paper'],
    ['', '\n'],
  ] as const) {
    assert.equal(errorClassOf(one), errorClassOf(other), one)
    assert.match(errorClassOf(one), /^[\da-f]{16}$/)
  }
  assert.notEqual(errorClassOf('Error: no paper'), errorClassOf('Error: no ink'))
})

test('errors of networks and rate limits are of a class of their own', () => {
  verifies('hosts.readers')
  for (const output of [
    'HTTP 429',
    'the till answered 503',
    'Error: connect ECONNREFUSED',
    'getaddrinfo EAI_AGAIN till.example',
    'rate limit reached',
    'the model is overloaded',
    'the call timed out',
  ]) {
    assert.equal(errorClassOf(`Error\n${output}`), 'infra')
  }
  for (const output of ['error in till.ts:502:4', 'error at line 500', 'error: 5000 receipts']) {
    assert.notEqual(errorClassOf(output), 'infra')
  }
})

test('the tests that failed are known by hashes of their names', () => {
  verifies('hosts.private')
  for (const [output, ...names] of [
    ['✔ opens (1.2ms)\n✖ prints Greek (3.4ms)\n\n✖ failing tests:\n', 'prints Greek'],
    ['ok 1 - opens\nnot ok 2 - prints Greek\n  ---\n', 'prints Greek'],
    ['not ok 1 - prints Greek # TODO\nnot ok 2 - opens', 'opens'],
    ['FAIL src/till.test.js\n  ● bon › prints Greek\n', 'bon › prints Greek', 'till.test.js'],
    [
      'FAILED tests/test_till.py::test_greek - AssertionError: 1 == 2\n1 failed in 0.1s',
      'test_till.py::test_greek',
    ],
    ['--- FAIL: TestGreek (0.01s)\n    till.go:9: no\nFAIL\nFAIL\ttill\t0.2s\n', 'TestGreek'],
  ] as const) {
    const hashes = [...names].sort().map((name) => digestOf(name))
    assert.deepEqual(failingOf(output), hashes, output)
  }
  for (const output of ['', 'ok 1 - opens', '1 passed', 'ok  \ttill\t0.2s', '✖ failing tests:']) {
    assert.equal(failingOf(output), undefined)
  }
  const many = Array.from({ length: 90 }, (_, nth) => `not ok 1 - ${'x'.repeat(nth + 1)}`)
  assert.equal(failingOf(many.join('\n'))?.length, 50)
})

test('the exit code stands at the beginning or the end of an output', () => {
  verifies('hosts.readers')
  const long = '.'.repeat(2000)
  for (const [output, code] of [
    [`Exit code 3\n${long}`, 3],
    [`${long}\nProcess exited with code 127`, 127],
    [`${long} exit code: -1`, -1],
    [`${long}Exit code 3${long}`, undefined],
    ['no end', undefined],
  ] as const) {
    assert.equal(exitCodeOf(output), code)
  }
})
