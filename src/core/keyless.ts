/** Prefix of the one-day account ids of callers without a key. */
export const keylessPrefix = 'anon_'

/** Whether an account is that of a caller without a key, who can neither set a webhook nor read a log. */
export function isKeyless(account: string): boolean {
  return account.startsWith(keylessPrefix)
}
