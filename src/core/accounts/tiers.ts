/** The limits of a tier; `null` is unlimited. */
export interface Tier {
  readonly name: TierName
  /** Keyed GET requests a day. */
  readonly reads: number | null
  /** Other keyed requests a day. */
  readonly writes: number | null
  /** Days a run is kept after its last step. */
  readonly retention_days: number
  readonly seats: number | null
  readonly alerts: boolean
  readonly digest: boolean
  /** US dollars a month; null means by agreement. */
  readonly price_usd: number | null
}

/** The tiers in the order of lists. */
export const tierNames = ['ground', 'solo', 'group', 'pro', 'enterprise'] as const

export type TierName = (typeof tierNames)[number]

/** The built-in table; the operator may override any field. */
export const builtInTiers: readonly Tier[] = [
  tier('ground', 1_000, 1, 1, false, 0),
  tier('solo', 10_000, 30, 1, true, 12),
  tier('group', 100_000, 90, 10, true, 49),
  tier('pro', 1_000_000, 180, 50, true, 199),
  tier('enterprise', null, 365, null, true, null),
]

function tier(
  name: TierName,
  perDay: number | null,
  retention_days: number,
  seats: number | null,
  paid: boolean,
  price_usd: number | null,
): Tier {
  return {
    name,
    reads: perDay,
    writes: perDay,
    retention_days,
    seats,
    alerts: paid,
    digest: paid,
    price_usd,
  }
}

/** Finds a tier by name; an unknown name is a bug. */
export function tierNamed(tiers: readonly Tier[], name: TierName): Tier {
  const found = tiers.find((tier) => tier.name === name)
  if (found === undefined) throw new Error(`the tier table lacks ${name}`)
  return found
}

/** Whether a text names a tier. */
export function isTierName(text: string): text is TierName {
  return tierNames.some((name) => name === text)
}

/**
 * Merges overrides into the built-in table: `{ "solo": { "reads": 5 } }`, or a list of such objects with a
 * name. Returns all faults instead if there are any, each with its field.
 */
export function overrideTiers(overrides: unknown): readonly Tier[] | { faults: string[] } {
  const faults: string[] = []
  const tiers = new Map<string, Tier>(builtInTiers.map((each) => [each.name, each]))
  const seen = new Set<string>()
  for (const { place, name, fields } of entriesOf(overrides, faults)) {
    const known = tiers.get(name)
    if (known === undefined) {
      faults.push(`${place}: "${name}" is no tier; name ${tierNames.join(', ')}`)
      continue
    }
    if (seen.has(name)) faults.push(`${place}: "${name}" stands here twice`)
    seen.add(name)
    for (const [field, value] of Object.entries(fields)) {
      if (field === 'name' && value === name) continue
      const rule = Object.hasOwn(rules, field) ? rules[field as keyof typeof rules] : undefined
      if (rule === undefined) {
        faults.push(`${place}.${field}: there is no such field; send ${fieldNames.join(', ')}`)
      } else if (!rule.allows(value)) {
        faults.push(`${place}.${field}: send ${rule.says}`)
      }
    }
    tiers.set(name, { ...known, ...fields })
  }
  return faults.length === 0 ? [...tiers.values()] : { faults }
}

interface Override {
  /** The name of the object in a fault. */
  place: string
  name: string
  fields: object
}

function entriesOf(overrides: unknown, faults: string[]): Override[] {
  if (!isObject(overrides)) {
    faults.push('send an object by name of tier, or a list of tiers')
    return []
  }
  const entries: [string, unknown][] = Array.isArray(overrides)
    ? overrides.map((each, index) => [`[${index}]`, each])
    : Object.entries(overrides)
  return entries.flatMap(([place, fields]) => {
    const name = Array.isArray(overrides) ? nameIn(fields) : place
    if (isObject(fields) && !Array.isArray(fields) && name !== null)
      return [{ place, name, fields }]
    faults.push(
      `${place}: send an object of fields${name === null ? ' with the name of a tier' : ''}`,
    )
    return []
  })
}

function nameIn(fields: unknown): string | null {
  return isObject(fields) && 'name' in fields && typeof fields.name === 'string'
    ? fields.name
    : null
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

interface Rule {
  says: string
  allows(value: unknown): boolean
}

function wholeFrom(least: number, value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least
}

const perDay: Rule = {
  says: 'a whole number of 0 or more, or null for unlimited',
  allows: (value) => value === null || wholeFrom(0, value),
}

const flag: Rule = {
  says: 'true or false',
  allows: (value) => typeof value === 'boolean',
}

const longestRetentionDays = 36_500

const rules: Record<Exclude<keyof Tier, 'name'>, Rule> = {
  reads: perDay,
  writes: perDay,
  retention_days: {
    says: `a whole number from 1 to ${longestRetentionDays}`,
    allows: (value) => wholeFrom(1, value) && (value as number) <= longestRetentionDays,
  },
  seats: {
    says: 'a whole number of 1 or more, or null for unlimited',
    allows: (value) => value === null || wholeFrom(1, value),
  },
  alerts: flag,
  digest: flag,
  price_usd: {
    says: 'a number of 0 or more, or null for a price by agreement',
    allows: (value) => value === null || (typeof value === 'number' && value >= 0),
  },
}

const fieldNames = Object.keys(rules)
