import { maxTextLength, wellFormed } from '../text.ts'

/** Longest id a caller may choose, in UTF-16 code units. */
export const maxIdLength = 200

/** Why a body is invalid; each sentence names the field and a correct value. */
export interface Fault {
  fault: string
}

/** Readers of optional fields; an invalid field adds a sentence to `faults` and reads as null. */
export function fieldReader(fields: Readonly<Record<string, unknown>>, faults: string[]) {
  function given(name: string): unknown {
    return fields[name] ?? null
  }
  function string(name: string): string | null {
    const value = given(name)
    if (value === null || typeof value === 'string') return value
    faults.push(`${name}: send a text`)
    return null
  }
  return {
    /** A free text, trimmed and well-formed. */
    text(name: string): string | null {
      const value = string(name)
      if (value === null) return null
      const text = wellFormed(value.trim())
      if (text.length > maxTextLength) faults.push(tooLong(name, text))
      return text
    },
    /** An id: any text of 1–200 characters, well-formed. */
    id(name: string): string | null {
      const value = string(name)
      if (value === null) return null
      if (value === '' || value.length > maxIdLength) {
        faults.push(`${name}: has ${value.length} characters; send 1 to ${maxIdLength}`)
      }
      return wellFormed(value)
    },
    flag(name: string): boolean | null {
      const value = given(name)
      if (value === null || typeof value === 'boolean') return value
      faults.push(`${name}: send true or false`)
      return null
    },
    /** A finite number from 0 to `max`. */
    amount(name: string, max = Number.MAX_SAFE_INTEGER): number | null {
      const value = given(name)
      if (value === null) return null
      if (typeof value === 'number' && value >= 0 && value <= max) return value
      faults.push(`${name}: send a number from 0 to ${max}`)
      return null
    },
    choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
      const value = given(name)
      if (value === null) return null
      const found = choices.find((choice) => choice === value)
      if (found === undefined) faults.push(`${name}: send ${choices.join(' or ')}`)
      return found ?? null
    },
  }
}

/** The fault of a text that is too long. */
export function tooLong(name: string, text: string): string {
  return `${name}: has ${text.length} characters; send at most ${maxTextLength}`
}
