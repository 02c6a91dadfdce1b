import { api } from '../api.ts'
import { Section } from '../controls.tsx'
import { Shown, useResource } from '../resource.tsx'
import { session } from '../session.ts'
import { counted, whole } from '../time.ts'
import type { Me } from './account.tsx'

type Tier = Awaited<ReturnType<typeof api.tiers>>['tiers'][number]

/** The tier of the account, what it has used today, and the other tiers. */
export function TierTable({ me }: { me: Me }) {
  const read = useResource(() => api.tiers())
  const { reads, writes, resets_in_s } = me.usage
  return (
    <Section
      title="Tier"
      id="tier"
      says={
        <>
          <b>{me.tier}</b>. Today {counted(reads, 'read')} and {counted(writes, 'write')}; the
          counts restart in {Math.max(1, Math.round(resets_in_s / 3600))} h.
        </>
      }
      action={
        session.value?.upgrade === true ? (
          <a class="button" href="/v1/upgrade">
            Upgrade
          </a>
        ) : undefined
      }
    >
      <Shown of={read} thing="tiers">
        {({ tiers }) => (
          <section class="table-frame" tabIndex={0} aria-label="Tiers">
            <table class="table tiers">
              <thead>
                <tr>
                  <th scope="col">Tier</th>
                  <th scope="col" class="number">
                    Reads a day
                  </th>
                  <th scope="col" class="number">
                    Writes a day
                  </th>
                  <th scope="col" class="number">
                    Runs kept
                  </th>
                  <th scope="col" class="number">
                    Seats
                  </th>
                  <th scope="col">Alerts, digest</th>
                  <th scope="col" class="number">
                    A month
                  </th>
                </tr>
              </thead>
              <tbody>
                {tiers.map((tier) => (
                  <Row key={tier.name} tier={tier} isMine={tier.name === me.tier} />
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Shown>
    </Section>
  )
}

function Row({ tier, isMine }: { tier: Tier; isMine: boolean }) {
  const { name, reads, writes, retention_days, seats, alerts, digest, price_usd } = tier
  const both =
    alerts && digest ? 'both' : alerts ? 'alerts only' : digest ? 'digest only' : 'neither'
  return (
    <tr class={isMine ? 'mine' : undefined}>
      <th scope="row">
        {name}
        {isMine ? <small>this account</small> : null}
      </th>
      <td class="number">{reads === null ? 'unlimited' : whole(reads)}</td>
      <td class="number">{writes === null ? 'unlimited' : whole(writes)}</td>
      <td class="number">{counted(retention_days, 'day')}</td>
      <td class="number">{seats === null ? 'unlimited' : whole(seats)}</td>
      <td>{both}</td>
      <td class="number">
        {price_usd === null ? 'by agreement' : price_usd === 0 ? 'free' : `$${whole(price_usd)}`}
      </td>
    </tr>
  )
}
