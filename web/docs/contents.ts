/** A page of the docs: its name in the address, and what it is called in the sidebar. */
export interface Page {
  name: string
  title: string
  /** Set where the page is not made of Markdown: it has an address of its own. */
  address?: string
}

/** The pages in the order of the sidebar. The Markdown of each lies in the folder `pages`. */
export const contents: { group: string; pages: Page[] }[] = [
  {
    group: 'Start',
    pages: [
      { name: 'run', title: 'Run it' },
      { name: 'connect', title: 'Connect an agent' },
      { name: 'errand', title: 'Send a good errand' },
    ],
  },
  {
    group: 'Understand',
    pages: [
      { name: 'line', title: 'The line and the distance' },
      { name: 'reasons', title: 'Reasons' },
      { name: 'confidence', title: 'How sure it is' },
      { name: 'user-turns', title: 'User turns and plans' },
      { name: 'sub-agents', title: 'Sub-agents' },
    ],
  },
  {
    group: 'Operate',
    pages: [
      { name: 'alerts', title: 'Alerts and incidents' },
      { name: 'escalations', title: 'Escalations' },
      { name: 'keys', title: 'Keys and tiers' },
      { name: 'backup', title: 'Backup and nodes' },
    ],
  },
  {
    group: 'Reference',
    pages: [
      { name: 'api', title: 'API', address: '/docs/api' },
      { name: 'mcp', title: 'MCP tools' },
      { name: 'migration', title: 'Moving to Plumbline' },
      { name: 'llms', title: 'llms.txt', address: '/llms.txt' },
    ],
  },
]
