import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readHistory } from '../model/histories.ts'

const gnuStyle = `2022-12-11  Somebody  <somebody@example.com>

\tstat: decode new fields.
\t* src/stat.h (struct stat): Add a field.
\t* src/stat.c (print), src/print.c: Print it.
\t* NEWS: Mention this change.

\tNothing was changed but words.

2022-12-10  Somebody  <somebody@example.com>

\tmap: update constants.
\t+ commit 0123456789

\t* src/map.in, tests/map.c: Update.
`

const statStyle = `commit ${'a'.repeat(40)}
Author: Somebody <somebody@example.com>
Date:   Fri Dec 16 23:14:57 2022 +0200

    Mark an argument as unused

    The compiler asks for it.

 src/table.hh | 2 +-
 logo.png     | Bin 0 -> 20 bytes
 2 files changed, 1 insertion(+), 1 deletion(-)

commit ${'b'.repeat(40)}
Author: Somebody <somebody@example.com>
Date:   Fri Dec 16 13:34:15 2022 -0500

    Begin

 NEWS | 1 +
 1 file changed, 1 insertion(+)
`

const itemsAlone = `2023-03-01  Somebody  <somebody@example.com>

\t* src/exec.c, src/pty.c:
\tOnly read when the command runs. This mends a hang.
\t[b7ea5b5e6a88] <1.9>

\t* MANIFEST: Name the new test.
`

describe('a history is read oldest first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-history-'))
  test.after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  test('from a ChangeLog in GNU style, packed', async () => {
    assert.deepEqual(await readHistory(file('gnu.gz', gzipSync(gnuStyle))), [
      { errand: 'map: update constants.', parts: ['src/map.in', 'tests/map.c'] },
      {
        errand: 'stat: decode new fields.',
        parts: ['src/stat.h', 'src/stat.c', 'src/print.c', 'NEWS'],
      },
    ])
  })

  test('from a ChangeLog whose every item is a commit', async () => {
    assert.deepEqual(await readHistory(file('items', itemsAlone)), [
      { errand: 'Name the new test.', parts: ['MANIFEST'] },
      { errand: 'Only read when the command runs.', parts: ['src/exec.c', 'src/pty.c'] },
    ])
  })

  test('from what git log --stat wrote', async () => {
    assert.deepEqual(await readHistory(file('stat', statStyle)), [
      { errand: 'Begin', parts: ['NEWS'] },
      { errand: 'Mark an argument as unused', parts: ['src/table.hh', 'logo.png'] },
    ])
  })

  test('from a repository', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
    git('init', '-q')
    for (const name of ['one', 'two']) {
      file(name, name)
      git('add', name)
      git('commit', '-qm', `Add ${name}`)
    }
    assert.deepEqual(await readHistory(folder), [
      { errand: 'Add one', parts: ['one'] },
      { errand: 'Add two', parts: ['two'] },
    ])
  })
})
