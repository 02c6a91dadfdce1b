import { api } from '../api.ts'
import { Section } from '../controls.tsx'
import { Shown, useResource } from '../resource.tsx'
import { counted } from '../time.ts'

/** What the server keeps of this account, for how long, who sees it, and how it is told less. */
export function Privacy({ tier }: { tier: string }) {
  const read = useResource(() => api.tiers())
  return (
    <Section title="Privacy" says="What this server keeps, and who sees it." id="privacy">
      <Shown of={read} thing="tiers">
        {({ tiers }) => (
          <Facts days={tiers.find(({ name }) => name === tier)?.retention_days ?? null} />
        )}
      </Shown>
    </Section>
  )
}

function Facts({ days }: { days: number | null }) {
  return (
    <dl class="privacy">
      <div>
        <dt>Kept</dt>
        <dd>
          Of a run the errand, what you said, goals and verdicts
          {days === null
            ? '.'
            : `, until ${counted(days, 'day')} after its last step. Then it is deleted.`}
        </dd>
      </div>
      <div>
        <dt>As hashes only</dt>
        <dd>Keys, and the sessions of browsers.</dd>
      </div>
      <div>
        <dt>Hosts tell</dt>
        <dd>
          Prompts, plans, paths and the heads of commands, without what looks like a secret. To tell
          paths and commands as hashes, or no text at all, run <code>init</code> again with{' '}
          <code>--level hashes</code> or <code>--level counts</code>.
        </dd>
      </div>
      <div>
        <dt>Your team sees</dt>
        <dd>
          How many runs, steps and tokens you have. Goals only if its owner shares them, in{' '}
          <a href="/app/fleet">Fleet</a>.
        </dd>
      </div>
      <div>
        <dt>Sent elsewhere</dt>
        <dd>
          Alerts and digests, to the addresses that you set; and what the operator of this server
          has set up, such as another model that is asked. Take everything with you, or erase it,
          below.
        </dd>
      </div>
    </dl>
  )
}
