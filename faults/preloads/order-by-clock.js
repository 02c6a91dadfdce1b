// Wrong on purpose: the steps of a run are told in the order of the clock.
import { DatabaseSync } from 'node:sqlite'

const { prepare } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function (sql) {
  return prepare.call(this, sql.replace('ORDER BY step LIMIT', 'ORDER BY ts LIMIT'))
}
