import type { Role, Template } from '../core/runs/modulation.ts'
import type { Queries } from './database/database.ts'

/** The recursion-team templates that accounts have stored. */
export interface Templates {
  /** Lists the templates by name. */
  list(account: string): Promise<Template[]>
  find(account: string, name: string): Promise<Template | null>
  /**
   * Stores a template, replacing the account's own one of that name. Returns false if the account would
   * have more than `most`. Call it in a transaction.
   */
  put(account: string, template: Template, most: number): Promise<boolean>
  /** Deletes a template and returns whether it existed. */
  remove(account: string, name: string): Promise<boolean>
}

interface TemplateRow {
  name: string
  task: string
  /** JSON. */
  roles: string
}

/** Creates the templates on a database or a transaction. */
export function createTemplates(db: Queries): Templates {
  return {
    async list(account) {
      const rows = await db.all<TemplateRow>(
        'SELECT name, task, roles FROM templates WHERE account = ? ORDER BY name',
        account,
      )
      return rows.map(templateOf)
    },
    async find(account, name) {
      const row = await db.get<TemplateRow>(
        'SELECT name, task, roles FROM templates WHERE account = ? AND name = ?',
        account,
        name,
      )
      return row === undefined ? null : templateOf(row)
    },
    async put(account, { name, task, roles }, most) {
      // The lock lets only one of several concurrent calls store the last allowed template.
      await db.run('UPDATE accounts SET created = created WHERE id = ?', account)
      const others = await db.get<{ count: number }>(
        'SELECT COUNT(*) AS count FROM templates WHERE account = ? AND name <> ?',
        account,
        name,
      )
      if ((others?.count ?? 0) >= most) return false
      await db.run(
        `INSERT INTO templates (account, name, task, roles) VALUES (?, ?, ?, ?)
         ON CONFLICT (account, name) DO UPDATE SET task = excluded.task, roles = excluded.roles`,
        account,
        name,
        task,
        JSON.stringify(roles),
      )
      return true
    },
    remove: async (account, name) =>
      (await db.run('DELETE FROM templates WHERE account = ? AND name = ?', account, name)) > 0,
  }
}

function templateOf({ name, task, roles }: TemplateRow): Template {
  return { name, task, roles: JSON.parse(roles) as Role[] }
}
