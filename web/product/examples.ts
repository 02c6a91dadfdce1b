/** A step as the recorder sends it. */
export interface Sent {
  goal: string
  progress?: 'advancing' | 'stuck' | 'circling'
  distance?: number
  ground?: string
  plan?: string[]
  parent_goal?: string
  user_turn?: boolean
  user_message?: string
}

const logout = 'Fix the bug where users are logged out after five minutes on the login page'
const billing = 'add rate limiting to the login endpoint'

/** The runs that the pages draw, each under the name by which a page asks for it. */
export const exampleRuns = {
  try: [{ ground: 'refund order 1234 to the customer', goal: 'refund order 9876 to the customer' }],
  'plain-http': [
    { ground: 'fix the totals on the October invoices', goal: 'read how totals are rounded' },
  ],
  'goal-drift': [
    { ground: logout, goal: 'run the login tests' },
    { goal: 'rename variables in the billing module' },
    { goal: 'reformat the billing module files' },
    { goal: 'update the invoice PDF template colours' },
    { goal: 'split the invoice template into partials' },
  ],
  swap: [
    { ground: 'refund order 1234 to the customer', goal: 'look up order 1234' },
    { goal: 'refund order 9876 to the customer' },
  ],
  uncertain: [
    { ground: 'reply to Mrs Chen about her broken kettle', goal: 'read the letter of Mrs Chen' },
    { goal: 'offer her a voucher of 20 euros' },
  ],
  ungrammatical: [
    { ground: billing, goal: 'read the code of the login endpoint' },
    { goal: '   ' },
    { goal: 'write the rate limiter for the login endpoint' },
  ],
  'self-report': [
    { ground: billing, goal: 'read the code of the login endpoint' },
    { goal: 'make the rate limiting tests of the login endpoint pass', progress: 'stuck' },
    { goal: 'make the rate limiting tests pass', progress: 'stuck' },
  ],
  excursion: [
    { ground: billing, goal: 'read the code of the login endpoint' },
    {
      goal: 'compare stores for the counters of the rate limiter',
      parent_goal: 'choose where rate limiting of the login endpoint keeps its counters',
    },
    {
      goal: 'open a Redis connection pool',
      parent_goal: 'keep the rate limiting counters in Redis',
    },
    {
      goal: 'upgrade the Redis client',
      parent_goal: 'rate limiting of the login endpoint with Redis',
    },
  ],
  stalled: [
    { ground: billing, goal: 'read the code of the login endpoint', distance: 6 },
    { goal: 'write a token bucket for the login endpoint', distance: 5 },
    { goal: 'make the tests of the rate limiter pass', distance: 5 },
    { goal: 'find out why the rate limiter test fails', distance: 5 },
    { goal: 'change the rate limiter so that its test passes', distance: 5 },
    { goal: 'run the tests of the rate limiter again', distance: 5 },
    { goal: 'look at the clock in the rate limiter test', distance: 5 },
    { goal: 'mock the clock of the rate limiter', distance: 5 },
    { goal: 'rerun the rate limiter tests with the mock clock', distance: 5 },
    { goal: 'change the limit of the login endpoint in the test', distance: 5 },
    { goal: 'run the login endpoint tests once more', distance: 5 },
  ],
  'user-turn': [
    { ground: billing, goal: 'write a token bucket for the login endpoint' },
    { goal: 'add tests for rate limiting on the login endpoint', user_message: 'ok thanks, go on' },
    { goal: 'limit the sign-up endpoint', user_message: 'also limit the sign-up endpoint' },
    {
      goal: 'write release notes for version 2.4',
      user_message: 'Forget that. Rather write the release notes for version 2.4',
    },
  ],
} satisfies Record<string, Sent[]>

export type Examples = typeof exampleRuns
