import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { api } from './api.ts'
import { Icon, type IconName, Logo } from './icons.tsx'
import { useKeys } from './keys.ts'
import { listen, notLiveSince, reconnect, retryAt } from './live.ts'
import { go, path } from './router.ts'
import { ago, timeOfDay } from './time.ts'

/** A place in the rail. */
interface Place {
  name: string
  href: string
  icon: IconName
  key: string
  /** What stands there, for a list of places. */
  says: string
}

/** The places of the rail, in its groups. */
const places: readonly (readonly Place[])[] = [
  [
    { name: 'Runs', href: '/app/runs', icon: 'runs', key: 'r', says: 'what agents do' },
    {
      name: 'Escalations',
      href: '/app/escalations',
      icon: 'escalations',
      key: 'e',
      says: 'who waits for a person',
    },
    { name: 'Alerts', href: '/app/alerts', icon: 'alerts', key: 'a', says: 'where drift is told' },
  ],
  [
    {
      name: 'Quality',
      href: '/app/quality',
      icon: 'quality',
      key: 'q',
      says: 'how often alarms are right',
    },
    {
      name: 'Cost',
      href: '/app/cost',
      icon: 'cost',
      key: 'c',
      says: 'tokens, and those spent on drift',
    },
    {
      name: 'Fleet',
      href: '/app/fleet',
      icon: 'fleet',
      key: 'f',
      says: 'the team and where runs collide',
    },
  ],
  [
    { name: 'Keys', href: '/app/keys', icon: 'keys', key: 'k', says: 'made, rotated, revoked' },
    {
      name: 'Settings',
      href: '/app/settings',
      icon: 'settings',
      key: 's',
      says: 'digest, address, tier',
    },
    { name: 'Docs', href: '/docs', icon: 'docs', key: 'd', says: 'how to report steps' },
  ],
]

/** The bar of a phone has room for the first group, and for a list of the others. */
const [primary = [], ...others] = places
export const placesBehindMore: readonly Omit<Place, 'key'>[] = [
  ...others.flat(),
  { name: 'Field', href: '/app/field', icon: 'runs', says: 'the weather of this server' },
]
const bar: readonly Pick<Place, 'name' | 'href' | 'icon'>[] = [
  ...primary,
  { name: 'More', href: '/app/more', icon: 'settings' },
]

declare const __VERSION__: string

const shownVersion = __VERSION__.split('.').slice(0, 2).join('.')

/** How much waits for a person: pending escalations and open incidents. */
export const waiting = signal({ escalations: 0, incidents: 0 })

/** The detector that judged the newest run. */
export const detector = signal('meaning')

/** Reads what the rail counts. */
export async function readWaiting(): Promise<void> {
  const [pending, incidents] = await Promise.all([
    api.readEscalations({ status: 'pending', limit: 100 }).catch(() => null),
    api.incidents({ open: 'true', limit: 100 }).catch(() => null),
  ])
  const escalations = pending !== null && 'escalations' in pending ? pending.escalations.length : 0
  waiting.value = { escalations, incidents: incidents?.incidents.length ?? 0 }
}

/** The frame of every view: the rail, or a bar below on a phone, and the page. */
export function Shell({ children }: { children: ComponentChildren }) {
  useEffect(() => {
    void readWaiting()
    return listen((events) => {
      if (
        events.some(
          ({ event }) => event === 'escalation' || event === 'incident' || event === 'gap',
        )
      ) {
        void readWaiting()
      }
    })
  }, [])
  useKeys(
    Object.fromEntries([
      ...places
        .flat()
        .map(({ key, href }) => [
          `g ${key}`,
          () => (href === '/docs' ? location.assign(href) : go(href)),
        ]),
      ['?', () => document.querySelector<HTMLDialogElement>('#keys-help')?.showModal()],
    ]),
  )
  return (
    <div class="shell">
      <nav class="rail" aria-label="Main">
        <a class="brand" href="/app/runs">
          <Logo /> Plumbline
        </a>
        {places.map((group) => (
          <ul key={group[0]?.name}>
            {group.map((place) => (
              <RailItem key={place.name} place={place} />
            ))}
          </ul>
        ))}
        <p class="rail-foot">
          detector {detector}
          <br />
          <a href="/app/field">this server</a> · version {shownVersion}
        </p>
      </nav>
      <main class="page" id="page" tabIndex={-1}>
        {children}
      </main>
      <nav class="bar" aria-label="Main">
        <ul>
          {bar.map((place) => (
            <RailItem key={place.name} place={place} />
          ))}
        </ul>
      </nav>
      <KeysHelp />
    </div>
  )
}

function RailItem({
  place: { name, href, icon },
}: {
  place: Pick<Place, 'name' | 'href' | 'icon'>
}) {
  const isHere = path.value === href || path.value.startsWith(`${href}/`)
  const count =
    name === 'Escalations'
      ? waiting.value.escalations
      : name === 'Alerts'
        ? waiting.value.incidents
        : 0
  const link = (
    <a class="rail-item" href={href} aria-current={isHere ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{name}</span>
      {count === 0 ? null : (
        <b class={name === 'Escalations' ? 'warn-text' : 'drift-text'}>
          {count > 99 ? '99+' : count}
        </b>
      )}
    </a>
  )
  return <li>{link}</li>
}

/** The line on top of a view: where one is, whether it is live, and what can be done. */
export function Top({
  title,
  children,
  live = false,
}: {
  title: ComponentChildren
  children?: ComponentChildren
  live?: boolean
}) {
  return (
    <header class="top">
      <div class="top-title">{title}</div>
      {live ? <Live /> : null}
      <div class="top-actions">{children}</div>
    </header>
  )
}

/** Says whether the page changes by itself, since when it does not, and when it tries again. */
export function Live({ says = 'live' }: { says?: ComponentChildren }) {
  const since = notLiveSince.value
  if (since === null) {
    return (
      <span class="live">
        <i class="live-dot" />
        {says}
      </span>
    )
  }
  return (
    <span class="live off">
      <i class="live-dot off" />
      <span role="status">
        Not live since {timeOfDay(new Date(since).toISOString())}. What you see may be older than
        the truth.
      </span>
      <button type="button" class="link" onClick={reconnect}>
        Reconnect now
      </button>
      {retryAt.value === null ? null : <Countdown key={retryAt.value} to={retryAt.value} />}
    </span>
  )
}

/** Counts the seconds until the next attempt. */
function Countdown({ to }: { to: number }) {
  const left = useSignal(secondsTo(to))
  useEffect(() => {
    const timer = setInterval(() => {
      left.value = secondsTo(to)
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  return <span>Trying again in {left} s.</span>
}

function secondsTo(time: number): number {
  return Math.max(1, Math.round((time - Date.now()) / 1_000))
}

/** `2 min`, as in a list. */
export function Ago({ at }: { at: string }) {
  return <time dateTime={at}>{ago(at)}</time>
}

const help: readonly [string, string][] = [
  ['J K', 'next and previous step'],
  ['D shift-D', 'next and previous drift'],
  ['[ ]', 'next and previous agent'],
  ['Home End', 'first and last step'],
  ['Y N', 'the verdict was right, or wrong'],
  ['O', 'set the outcome of the run'],
  ['/', 'search'],
  ['G then R E A Q', 'runs, escalations, alerts, quality'],
  ['?', 'this list'],
]

function KeysHelp() {
  return (
    <dialog id="keys-help" class="sheet" aria-label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        {help.map(([keys, says]) => (
          <div key={keys}>
            <dt>
              {keys
                .split(' ')
                .map((key) => (key === 'then' ? ' then ' : <kbd key={key}>{key}</kbd>))}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        Single keys can be switched off in <a href="/app/settings#keys">Settings</a>.
      </p>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  )
}
