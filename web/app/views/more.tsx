import '../more/more.css'
import { Icon } from '../icons.tsx'
import { placesBehindMore, Top } from '../shell.tsx'

/** The places that the bar of a phone has no room for. */
export default function More() {
  return (
    <>
      <Top title={<h1>More</h1>} />
      <nav aria-label="More">
        <ul class="more">
          {placesBehindMore.map(({ name, href, icon, says }) => (
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
