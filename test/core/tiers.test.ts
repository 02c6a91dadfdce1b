import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { builtInTiers, overrideTiers, tierNamed, tierNames } from '../../src/core/accounts/tiers.ts'
import { verifies } from '../verifies.ts'

function faultsOf(overrides: unknown): string[] {
  const tiers = overrideTiers(overrides)
  return 'faults' in tiers ? tiers.faults : []
}

describe('overrides of the tier table', () => {
  test('change the fields they name and nothing else', () => {
    verifies('settings.tiers', 'tiers.order')
    for (const overrides of [
      { pro: { price_usd: 0.5 }, solo: { reads: 7, writes: null, alerts: false } },
      [
        { name: 'pro', price_usd: 0.5 },
        { name: 'solo', reads: 7, writes: null, alerts: false },
      ],
      { solo: { name: 'solo', reads: 7, writes: null, alerts: false }, pro: { price_usd: 0.5 } },
    ]) {
      const tiers = overrideTiers(overrides)
      assert.ok(!('faults' in tiers))
      assert.deepEqual(
        tiers.map(({ name }) => name),
        tierNames,
      )
      const solo = { ...tierNamed(builtInTiers, 'solo'), reads: 7, writes: null, alerts: false }
      assert.deepEqual(tierNamed(tiers, 'solo'), solo)
      assert.deepEqual(tierNamed(tiers, 'pro'), {
        ...tierNamed(builtInTiers, 'pro'),
        price_usd: 0.5,
      })
      assert.deepEqual(tierNamed(tiers, 'ground'), tierNamed(builtInTiers, 'ground'))
    }
    for (const nothing of [{}, [], { solo: {} }]) {
      assert.deepEqual(overrideTiers(nothing), builtInTiers)
    }
  })

  test('of the whole table as it is answered are the table', () => {
    verifies('settings.tiers')
    assert.deepEqual(overrideTiers(builtInTiers), builtInTiers)
  })

  test('are refused with every fault, each naming its field', () => {
    verifies('settings.tiers')
    assert.deepEqual(
      faultsOf({
        solo: { reads: -1, writes: 1.5, retention_days: null, seats: 0, alerts: 'yes' },
        pro: { digest: 1, price_usd: -1, retention_days: 40_000, colour: 'red' },
        platinum: { reads: 1 },
        group: 7,
        ground: { name: 'solo' },
      }),
      [
        'group: send an object of fields',
        'solo.reads: send a whole number of 0 or more, or null for unlimited',
        'solo.writes: send a whole number of 0 or more, or null for unlimited',
        'solo.retention_days: send a whole number from 1 to 36500',
        'solo.seats: send a whole number of 1 or more, or null for unlimited',
        'solo.alerts: send true or false',
        'pro.digest: send true or false',
        'pro.price_usd: send a number of 0 or more, or null for a price by agreement',
        'pro.retention_days: send a whole number from 1 to 36500',
        'pro.colour: there is no such field; send reads, writes, retention_days, seats, alerts, digest, price_usd',
        'platinum: "platinum" is no tier; name ground, solo, group, pro, enterprise',
        'ground.name: there is no such field; send reads, writes, retention_days, seats, alerts, digest, price_usd',
      ],
    )
    assert.deepEqual(
      faultsOf([{ reads: 1 }, 'solo', { name: 'solo' }, { name: 'solo', reads: '5' }]),
      [
        '[0]: send an object of fields with the name of a tier',
        '[1]: send an object of fields with the name of a tier',
        '[3]: "solo" stands here twice',
        '[3].reads: send a whole number of 0 or more, or null for unlimited',
      ],
    )
    for (const nothing of [null, 5, 'solo', true, undefined]) {
      assert.deepEqual(faultsOf(nothing), ['send an object by name of tier, or a list of tiers'])
    }
    assert.equal(faultsOf(JSON.parse('{"solo":{"__proto__":5},"__proto__":{}}')).length, 2)
  })
})
