import type { Role, Template } from '../core/runs/modulation.ts'
import type { Queries } from './database/database.ts'

/** The recursion-team templates that accounts have stored. */
export interface Templates {
  /** In the order of their names. */
  list(account: string): Promise<Template[]>
  find(account: string, name: string): Promise<Template | null>
  /**
   * Stores a template, in place of the account's own one of that name. In a transaction; answers false
   * when the account would have more than `most`.
   */
  put(account: string, template: Template, most: number): Promise<boolean>
  /** Answers whether there was one. */
  remove(account: string, name: string): Promise<boolean>
}

interface TemplateRow {
  name: string
  task: string
  /** JSON. */
  roles: string
}

/** The templates in a database or one of its transactions. */
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
      // Held, so that of several that would be the last one only one is.
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
