import { DatabaseSync } from 'node:sqlite'
import { type Cluster, startCluster, whyNoCluster } from './cluster.ts'
import { type Ended, runPlumbline, type Setting } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import {
  createVerdict,
  type Experiment,
  nothing,
  skipped,
  type Trial,
  type Wrong,
} from './trial.ts'

const usualPoints = 20
const rounds = 5

/** Kills `plumbline migrate` at random statements and runs it again. Also runs two at once. */
export const migration: Experiment = {
  name: 'migration',
  async play(size) {
    const points = size ?? usualPoints
    const halves: Wrong = { how: 'commits each statement', breaks: 'completes' }
    const unlocked: Wrong = { how: 'migrates without the lock', breaks: 'both complete' }
    const trials = await onStage(async (stage) => {
      const base = onFiles(stage)
      return [
        await playKills(stage, base, points, [], null),
        await playKills(stage, base, points, ['commit-each-statement'], halves),
        await playTogether(stage, base, [], null),
      ]
    })
    const reason = whyNoCluster()
    if (reason !== null) return [...trials, skipped('PostgreSQL', reason)]
    return onStage(async (stage) => {
      const base = onCluster(await startCluster(stage))
      return [
        ...trials,
        await playKills(stage, base, points, [], null),
        await playKills(stage, base, points, ['commit-each-statement'], halves),
        await playTogether(stage, base, [], null),
        await playTogether(stage, base, ['no-migration-lock'], unlocked),
      ]
    })
  },
}

/** A source of empty databases, one after another. */
interface Base {
  readonly name: string
  /** Replaces the database with an empty one. */
  renew(): Promise<Setting>
  /** The schema of the current database. */
  schema(): Promise<string>
  run(sql: string): Promise<number>
}

function onFiles({ folder }: Stage): Base {
  let file = ''
  let count = 0
  function open<T>(use: (database: DatabaseSync) => T): T {
    const database = new DatabaseSync(file)
    try {
      return use(database)
    } finally {
      database.close()
    }
  }
  return {
    name: 'SQLite',
    async renew() {
      file = `${folder}/migration-${++count}.db`
      return { env: { DATABASE_URL: `sqlite:${file}` } }
    },
    schema: async () =>
      open((database) =>
        JSON.stringify(database.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all()),
      ),
    run: async (sql) => open((database) => Number(database.prepare(sql).run().changes)),
  }
}

function onCluster({ setting, empty, schema, query }: Cluster): Base {
  return {
    name: 'PostgreSQL',
    async renew() {
      await empty()
      return setting
    },
    schema: async () => schema(),
    run: async (sql) => (await query(sql)).rowCount ?? 0,
  }
}

async function playKills(
  stage: Stage,
  base: Base,
  points: number,
  preloads: readonly string[],
  wrong: Wrong | null,
): Promise<Trial> {
  const { broken, expect } = createVerdict()
  const migrate = async (killAt: number, { env }: Setting) => {
    const setting = {
      env: { ...env, KILL_AT: String(killAt) },
      preloads: [...preloads, 'kill-at-statement'],
    }
    return runPlumbline(stage, setting, ['migrate'])
  }
  const clean = await migrate(0, await base.renew())
  const statements = Number(/statements: (\d+)/.exec(clean.err)?.[1])
  const schema = await base.schema()
  let tried = 0
  let kept = 0
  for (const killAt of pick(points, statements)) {
    if (wrong !== null && broken.length > 0) break
    tried++
    const setting = await base.renew()
    const killed = await migrate(killAt, setting)
    expect(killed.signal === 'SIGKILL', 'was killed', saying(killed))
    const hasRow = await base
      .run("INSERT INTO counters (bucket, day, used) VALUES ('kept', 1, 7)")
      .catch(() => 0)
    const again = await migrate(0, setting)
    expect(again.code === 0, 'completes', `killed at statement ${killAt}: ${saying(again)}`)
    if (again.code !== 0) continue
    expect((await base.schema()) === schema, 'the schema of a clean one', `killed at ${killAt}`)
    const found = await base.run("UPDATE counters SET used = 7 WHERE bucket = 'kept' AND used = 7")
    expect(found === hasRow, 'what was stored stays', `killed at statement ${killAt}`)
    kept += found
  }
  return {
    on: `${base.name}, killed`,
    wrong,
    skipped: null,
    measured: {
      ...nothing,
      seen: `killed at ${tried} of ${statements} statements; ${kept} rows written in between, all kept`,
    },
    broken,
  }
}

async function playTogether(
  stage: Stage,
  base: Base,
  preloads: readonly string[],
  wrong: Wrong | null,
): Promise<Trial> {
  const { broken, expect } = createVerdict()
  await runPlumbline(stage, await base.renew(), ['migrate'])
  const schema = await base.schema()
  let round = 0
  while (round < rounds && (wrong === null || broken.length === 0)) {
    round++
    const setting = { ...(await base.renew()), preloads }
    const both = await Promise.all([
      runPlumbline(stage, setting, ['migrate']),
      runPlumbline(stage, setting, ['migrate']),
    ])
    const bad = both.filter(({ code }) => code !== 0)
    expect(bad.length === 0, 'both complete', bad.map(saying).join('; '))
    if (bad.length > 0) continue
    expect((await base.schema()) === schema, 'the schema of a clean one', `round ${round}`)
  }
  return {
    on: `${base.name}, two at once`,
    wrong,
    skipped: null,
    measured: { ...nothing, seen: `${round} rounds` },
    broken,
  }
}

/** Different numbers of 1 to `last`, in random order. */
function pick(count: number, last: number): number[] {
  const numbers = Array.from({ length: last }, (_, at) => ({ number: at + 1, at: Math.random() }))
  return numbers
    .sort((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ number }) => number)
}

function saying({ code, signal, err }: Ended): string {
  const error = /^\w*[Ee]rror: .*$/m.exec(err)?.[0] ?? err.slice(0, 200)
  return `ended with ${code ?? signal}, ${error}`
}
