import { check } from './check.ts'

/** Everything that can be asked. The HTTP routes, the description and the client are made from this list. */
export const operations = [check] as const
