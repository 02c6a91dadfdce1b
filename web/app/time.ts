import { signal } from '@preact/signals'

/** The time of the page, which moves on every 20 seconds. */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 20_000)

/** How long ago a time was: `2 min`, `3 h`, `4 days`. */
export function ago(iso: string, at = now.value): string {
  return span(Math.max(0, at - Date.parse(iso)))
}

/** How long ago a time was, in a sentence: `2 min ago`, `just now`. */
export function agoInWords(iso: string, at = now.value): string {
  const past = ago(iso, at)
  return past.endsWith(' s') ? 'just now' : `${past} ago`
}

/** A length of time in one unit. */
export function span(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return `${Math.round(ms / 1000)} s`
  if (minutes < 100) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}

// Intl takes longer to load than a page may take, and this is English only.
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The time of day, `14:05`; with the day if it is not today. */
export function clock(iso: string): string {
  const date = new Date(iso)
  const today = new Date(now.value).toDateString() === date.toDateString()
  const day = `${date.getDate()}\u00a0${months[date.getMonth()]}`
  return today ? timeOfDay(iso) : `${day} ${timeOfDay(iso)}`
}

/** The time of day without the day. */
export function timeOfDay(iso: string): string {
  const date = new Date(iso)
  const two = (count: number) => String(count).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** A count in at most four characters: `971`, `4.8k`, `88k`, `1.2M`. */
export function short(count: number): string {
  if (count < 1_000) return String(Math.round(count))
  if (count < 9_950) return `${(count / 1_000).toFixed(1)}k`
  if (count < 999_500) return `${Math.round(count / 1_000)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** A count with separators: `4,683`. */
export function whole(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 step`, `2 steps`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${whole(count)} ${count === 1 ? noun : plural}`
}

const words = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten']

/** A number at the beginning of a sentence. */
export function inWords(count: number): string {
  return words[count] ?? whole(count)
}
