const longestPath = 2_000
const home = '/app'

/**
 * The path of this server to which a person goes after the sign-in: `to`, or `/app` if `to` could lead to
 * another host. Browsers read `//host` and `/\host` as another host, and drop tabs and line breaks.
 */
export function landingOf(to: unknown): string {
  if (typeof to !== 'string' || to.length > longestPath) return home
  return /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : home
}
