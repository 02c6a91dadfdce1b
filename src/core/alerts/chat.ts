import { cutTo } from '../text.ts'
import { readDestination } from './public-url.ts'

/** A chat that takes texts by webhook, and how it reads them. */
export interface Chat {
  bold(text: string): string
  /** What somebody wrote, so that the chat shows it and does nothing else with it. */
  plain(text: string): string
  /** The body that posts a text, as JSON. */
  body(text: string): string
}

/**
 * The chat an address leads to, decided on the whole host name: Slack's incoming webhooks, or Discord
 * (its domain, whatever is below it, and its former domain). Null for every other host.
 */
export function chatAt(url: string): Chat | null {
  const host = readDestination(url)?.host ?? ''
  if (host === 'hooks.slack.com') return slack
  const isDiscord =
    host === 'discord.com' || host.endsWith('.discord.com') || host === 'discordapp.com'
  return isDiscord ? discord : null
}

const slack: Chat = {
  bold: (text) => `*${text}*`,
  // `<…>` would be a link or a mention.
  plain: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  body: (text) => JSON.stringify({ text }),
}

/** Discord refuses longer messages. */
const maxDiscordLength = 2000

const discord: Chat = {
  bold: (text) => `**${text}**`,
  // A bracket would begin a link that hides where it leads, and a backslash before it would take the
  // backslash away. A zero-width space keeps the text from calling people.
  plain: (text) =>
    text
      .replaceAll(/[\\[]/g, (sign) => `\\${sign}`)
      .replaceAll(/@(?=everyone|here)|<(?=@)/g, (sign) => `${sign}\u200B`),
  body: (text) => JSON.stringify({ content: cutTo(text, maxDiscordLength) }),
}
