import { fnv1a } from '../../text.ts'

/** The 32-bit FNV-1a hash of a text, mixed so that its low bits serve as a place. */
export function hashOf(text: string): number {
  const hash = fnv1a(text)
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}
