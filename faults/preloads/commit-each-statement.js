// Wrong on purpose: what belongs together is committed statement by statement.
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const { prepare } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql)
  if (!/^\s*CREATE/.test(sql)) return statement
  return {
    run: (...values) => {
      const changes = statement.run(...values)
      this.exec('RELEASE job; COMMIT; BEGIN IMMEDIATE; SAVEPOINT job')
      return changes
    },
  }
}

const { query } = pg.Client.prototype
pg.Client.prototype.query = function (config, ...more) {
  if (typeof config?.text === 'string') {
    config = { ...config, text: config.text.replace(/^(BEGIN|COMMIT)\b/, 'SELECT 1') }
  }
  return query.call(this, config, ...more)
}
