import '../more/more.css'
import { Icon, type IconName } from '../icons.tsx'
import { Top } from '../shell.tsx'

const places: readonly { name: string; href: string; icon: IconName; says: string }[] = [
  { name: 'Quality', href: '/app/quality', icon: 'quality', says: 'how often alarms are right' },
  { name: 'Cost', href: '/app/cost', icon: 'cost', says: 'tokens, and those spent on drift' },
  { name: 'Fleet', href: '/app/fleet', icon: 'fleet', says: 'the team and where runs collide' },
  { name: 'Keys', href: '/app/keys', icon: 'keys', says: 'made, rotated, revoked' },
  { name: 'Settings', href: '/app/settings', icon: 'settings', says: 'digest, address, tier' },
  { name: 'Docs', href: '/docs', icon: 'docs', says: 'how to report steps' },
  { name: 'Field', href: '/app/field', icon: 'runs', says: 'the weather of this server' },
]

/** The places that the bar of a phone has no room for. */
export default function More() {
  return (
    <>
      <Top title={<h1>More</h1>} />
      <nav aria-label="More">
        <ul class="more">
          {places.map(({ name, href, icon, says }) => (
            <li key={name}>
              <a href={href}>
                <Icon name={icon} />
                <span>
                  {name}
                  <small>{says}</small>
                </span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </>
  )
}
