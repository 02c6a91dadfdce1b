// Wrong on purpose: whatever PostgreSQL is asked about its clock, the clock of this node answers.
import pg from 'pg'

const clock = /\b(clock_timestamp|statement_timestamp|transaction_timestamp|now)\(\)/gi

const { query } = pg.Client.prototype
pg.Client.prototype.query = function (config, ...more) {
  if (typeof config?.text === 'string') {
    const text = config.text.replace(clock, `to_timestamp(${Date.now() / 1000})`)
    // Another text each time, so never by the name of an earlier one.
    if (text !== config.text) config = { ...config, text, name: undefined }
  }
  return query.call(this, config, ...more)
}
