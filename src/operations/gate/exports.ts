import type { Keyed } from './context.ts'
import { Refusal } from './refusal.ts'

/** The sentences on exports that every description of an export ends with. */
export const exportRule =
  'An account has one export in flight at a time; a second request gets 429. The server cuts off a reader that takes nothing for 30 seconds.'

const retryS = 10

/** Returns the lines of an export. Refuses a second export of the account while one is in flight (429). */
export function exportOnce(
  { exports, account }: Keyed,
  lines: () => AsyncGenerator<string>,
): AsyncGenerator<string> {
  const end = exports.begin(account.id)
  if (end !== null) return endingWith(lines(), end)
  throw new Refusal(
    429,
    'rate_limit',
    {
      detail: `Another export of this account is in flight. Try again when it has ended, or in ${retryS} seconds.`,
      retry_after_s: retryS,
    },
    { 'retry-after': String(retryS) },
  )
}

async function* endingWith(lines: AsyncGenerator<string>, end: () => void): AsyncGenerator<string> {
  try {
    yield* lines
  } finally {
    end()
  }
}
