import { usageFault } from './usage-fault.ts'

/** The address of a server as it was named, without a slash at its end, or a usage fault. */
export function readServer(value: unknown): string {
  const text = String(value)
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (url !== null && isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  throw usageFault(`--server is "${text}"; send an address such as http://127.0.0.1:8787.`)
}

/** Whether an address is of this machine. */
export function isHere(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname)
}
