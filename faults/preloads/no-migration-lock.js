// Wrong on purpose: nodes migrate a PostgreSQL database without waiting for each other, and slowly.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const { query } = pg.Client.prototype
pg.Client.prototype.query = async function (config, ...more) {
  if (typeof config?.text === 'string') {
    config = { ...config, text: config.text.replace(/pg_advisory_xact_lock\(.*\)/, '1') }
  }
  await pause(20)
  return query.call(this, config, ...more)
}
