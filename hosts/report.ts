/** What is told of one host: each check in a line, and how many failed. */
export interface Report {
  check(name: string, holds: boolean, seen?: unknown): void
  /** Tells what is no check. */
  note(name: string, seen?: unknown): void
  checks(): number
  failures(): number
}

/** Creates the report of a host, which prints as it goes. */
export function createReport(host: string): Report {
  let checks = 0
  let failures = 0
  const tell = (mark: string, name: string, seen: unknown) => {
    const told = typeof seen === 'string' ? seen : JSON.stringify(seen)
    console.log(`${mark.padEnd(4)} ${host}: ${name}${told === '' ? '' : `  ${told}`}`)
  }
  return {
    check(name, holds, seen = '') {
      checks++
      if (!holds) failures++
      tell(holds ? 'ok' : 'FAIL', name, seen)
    },
    note: (name, seen = '') => tell('note', name, seen),
    checks: () => checks,
    failures: () => failures,
  }
}
