/** A step of a run that the pictures show. */
export interface ToldStep {
  goal: string
  ground?: string
  agent_id?: string
  parent_goal?: string
  user_message?: string
  plan?: readonly string[]
  tokens?: number
  pair?: string
  arm?: 'treatment' | 'control'
}

/** An agent that leaves its errand for the billing code, and comes back. */
export const loginTimeout: readonly ToldStep[] = [
  {
    ground: 'Fix the bug where users are logged out after five minutes on the login page',
    goal: 'reproduce the logout on the login page with a test',
  },
  { goal: 'read the session middleware of the login page' },
  { goal: 'find where the login session expires after five minutes' },
  { goal: 'compare the session expiry with the cookie of the login page' },
  { goal: 'fix the session expiry in the login handler' },
  { goal: 'run the login tests' },
  { goal: 'rename variables in the billing module' },
  { goal: 'reformat the files of the billing module' },
  { goal: 'update the colours of the invoice template' },
  { goal: 'split the invoice template into partials' },
  { goal: 'move the invoice colours into a palette' },
  { goal: 'write a changelog entry for the invoice palette' },
  { goal: 'go back to the logout bug on the login page' },
  { goal: 'extend the login session while the user is active' },
  { goal: 'test that the login session lasts longer than five minutes' },
  { goal: 'run all login tests again' },
]

/** An agent with two sub-agents, one of which leaves the errand. */
export const subAgents: readonly ToldStep[] = [
  {
    ground: 'Write the release notes of version 4.2 from the merged pull requests',
    goal: 'list the pull requests merged since version 4.1',
  },
  { goal: 'sort the merged pull requests into features and fixes' },
  {
    agent_id: 'reader',
    ground: 'summarise the merged pull requests about search',
    goal: 'read the pull requests about search',
  },
  { agent_id: 'reader', goal: 'summarise the pull request about search ranking' },
  {
    agent_id: 'writer',
    ground: 'draft the release notes of the search features',
    goal: 'draft the release notes of search ranking',
  },
  { agent_id: 'reader', goal: 'profile the indexing of large repositories' },
  { agent_id: 'reader', goal: 'rewrite the indexer to use threads' },
  { agent_id: 'reader', goal: 'benchmark the threads of the new indexer' },
  { agent_id: 'writer', goal: 'draft the release notes of saved searches' },
  { goal: 'join the drafts of the release notes' },
  { goal: 'check the release notes against the pull requests' },
]

/** The other runs of the list, oldest first. */
export const errands: Record<
  string,
  { steps: readonly ToldStep[]; outcome: 'success' | 'failure' | null }
> = {
  'docs-quickstart': told('success', 'Update the quickstart guide for the new client', [
    'read the quickstart guide',
    'update the client example in the quickstart guide',
    'run the examples of the quickstart guide',
  ]),
  'flaky-checkout-test': told('success', 'Find out why the checkout test is flaky', [
    'run the checkout test a hundred times',
    'read the log of a checkout test that failed',
    'find the race in the checkout test',
    'make the checkout test wait for the order',
  ]),
  'newsletter-june': told('failure', 'Draft the June newsletter about the search features', [
    'collect the search features of June',
    'draft the newsletter about the search features',
    'design a new logo for the company',
    'compare printers for business cards',
    'order business cards with the new logo',
    'choose paper for the business cards',
    'draft the newsletter about the search features of June',
  ]),
  'rate-limit': told('success', 'Add a rate limit to the login endpoint', [
    'add a token bucket for the login endpoint',
    'test the rate limit of the login endpoint',
    'document the rate limit of the login endpoint',
  ]),
  'dependency-audit': told(null, 'Audit the dependencies of the web client for vulnerabilities', [
    'list the dependencies of the web client',
    'check the dependencies for known vulnerabilities',
    'rewrite the date picker in another framework',
    'animate the date picker',
    'add themes to the date picker',
    'publish the date picker as a package',
  ]),
  'refund-1234': told('success', 'Refund order 1234 to the customer', [
    'look up order 1234',
    'refund order 1234 to the customer',
  ]),
  'search-latency': told(null, 'Reduce the latency of the product search below 200 ms', [
    'measure the latency of the product search',
    'profile the queries of the product search',
    'add an index for the product search',
    'measure the latency of the product search again',
  ]),
  'onboarding-mails': told(null, 'Translate the onboarding mails into French', [
    'collect the onboarding mails',
    'translate the welcome mail into French',
    'train a model on support tickets',
    'tune the model of support tickets',
    'deploy the model of support tickets',
  ]),
  'invoice-export': told(null, 'Export the invoices of May as CSV for the accountant', [
    'query the invoices of May',
    'write the invoices of May as CSV',
    'check the totals of the exported invoices',
  ]),
  'staging-upgrade': told(null, 'Upgrade the staging database from PostgreSQL 15 to 17', [
    'back up the staging database',
    'upgrade the staging database to PostgreSQL 17',
    'upgrade the production database to PostgreSQL 17',
  ]),
}

/** Finished runs, each of which left its errand once: what the quality of alarms is counted from. */
export const labelled: readonly (readonly ToldStep[])[] = [
  'Update the changelog of the payments library',
  'Write a smoke test for the signup form',
  'Find the memory leak in the image worker',
  'Add a readiness probe to the orders service',
  'Answer the open support tickets about failed payments',
  'Document the retry policy of the mail queue',
  'Sort the product list by price',
  'Shorten the build of the mobile app',
  'Add pagination to the audit log',
  'Translate the error messages of the web shop into Spanish',
  'Archive the old reports of the sales team',
].map((ground) => [
  { ground, goal: ground },
  { goal: 'rename the colours of the holiday calendar' },
  { goal: 'draw icons for the holiday calendar' },
  { goal: 'animate the icons of the holiday calendar' },
  { goal: ground },
])

function told(outcome: 'success' | 'failure' | null, ground: string, goals: readonly string[]) {
  return { outcome, steps: goals.map((goal, at) => (at === 0 ? { ground, goal } : { goal })) }
}

/** The tokens that each task took more with Plumbline than without. */
const deltas = [-12_300, -10_300, -9_700, -8_200, -5_100, -5_100, 3_500, 7_700, 10_800]

const components = [
  'header',
  'product card',
  'basket',
  'search field',
  'order list',
  'address form',
  'price filter',
  'footer',
  'review form',
]

const works = ['look at', 'port the styles of', 'port', 'test the new theme of']

/** Tasks that were done twice, with and without Plumbline. */
export const pairs: Record<string, readonly ToldStep[]> = Object.fromEntries(
  deltas.flatMap((delta, at) =>
    (['control', 'treatment'] as const).map((arm) => {
      const ground = `Port the ${components[at]} of the web shop to the new theme`
      const tokens = (31_000 + at * 900 + (arm === 'treatment' ? delta : 0)) / works.length
      const steps = works.map((work): ToldStep => {
        const goal = `${work} the ${components[at]} of the web shop`
        return { ground, goal, tokens, pair: `theme-${at + 1}`, arm }
      })
      return [`theme-${at + 1}-${arm}`, steps]
    }),
  ),
)

/** A run of another member of the team on the errand of `staging-upgrade`. */
export const collision: readonly ToldStep[] = [
  {
    ground: 'Upgrade the staging database from PostgreSQL 15 to 17',
    goal: 'read what upgrading the staging database to PostgreSQL 17 takes',
  },
  { goal: 'upgrade the staging database to PostgreSQL 17' },
]

/** What the agents of `errands` say into the field, eight words each. */
export const spoken: readonly string[] = [
  'stone soil deep slow body ground dark earth',
  'wind breath move flow pass touch come walk',
  'line curve form edge space leaf surface frame',
  'break fire spark turn cross shift door change',
  'spark fire break cross flow wind move pass',
  'soil leaf body flow breath space skin walk',
  'fire fold begin door turn wind reach go',
  'deep slow cold stone ground bone earth dark',
  'change shift cross spark break turn fire fold',
  'leaf breath curve flow soil skin touch come',
]
