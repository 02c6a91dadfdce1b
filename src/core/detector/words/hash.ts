import { fnv1a } from '../../text.ts'

/** 32-bit FNV-1a over the UTF-16 code units, mixed so that its low bits can index a table. */
export function hashOf(text: string): number {
  const hash = fnv1a(text)
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}
