/** A cookie that is set for this host and every path, and that no script can read. */
export interface Cookie {
  name: string
  /** Letters, digits, `-` and `_`. */
  value: string
  /** Seconds that the browser keeps it; 0 takes it away. */
  maxAge: number
  /** Whether the browser sends it over HTTPS only. */
  isSecure: boolean
}

/** The value of a cookie in a `cookie` header; null if it is missing, or there twice. */
export function readCookie(header: string | undefined, name: string): string | null {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  const [value] = values
  return values.length === 1 && value !== undefined ? value : null
}

/** Writes the `set-cookie` header of a cookie. Other sites send it only by a link that somebody follows. */
export function writeCookie({ name, value, maxAge, isSecure }: Cookie): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
}
