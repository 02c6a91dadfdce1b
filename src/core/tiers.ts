/** What one tier may do. `null` is unlimited. */
export interface Tier {
  readonly name: TierName
  /** Keyed GETs a day. */
  readonly reads: number | null
  /** Other keyed requests a day. */
  readonly writes: number | null
  /** Days a run is kept after its last step. */
  readonly retention_days: number
  readonly seats: number | null
  readonly alerts: boolean
  readonly digest: boolean
  /** US dollars a month; null is by agreement. */
  readonly price_usd: number | null
}

/** The tiers in the order in which they are listed. */
export const tierNames = ['ground', 'solo', 'group', 'pro', 'enterprise'] as const

export type TierName = (typeof tierNames)[number]

/** The built-in table; whoever runs the server may override any field of it. */
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

/** The tier of a name in a table; a name the table lacks is a fault of the program. */
export function tierNamed(tiers: readonly Tier[], name: TierName): Tier {
  const found = tiers.find((tier) => tier.name === name)
  if (found === undefined) throw new Error(`the tier table lacks ${name}`)
  return found
}
