// Kills this process with its statement number KILL_AT: before SQLite has run it, or right after it
// was sent to PostgreSQL. Says at the end how many statements there were.
import { StatementSync } from 'node:sqlite'
import pg from 'pg'

const killAt = Number(process.env.KILL_AT)
let statements = 0

const { run } = StatementSync.prototype
StatementSync.prototype.run = function (...values) {
  if (++statements === killAt) process.kill(process.pid, 'SIGKILL')
  return run.apply(this, values)
}

const { query } = pg.Client.prototype
pg.Client.prototype.query = function (...args) {
  const answer = query.apply(this, args)
  if (++statements === killAt) setImmediate(() => process.kill(process.pid, 'SIGKILL'))
  return answer
}

process.on('exit', () => process.stderr.write(`statements: ${statements}\n`))
