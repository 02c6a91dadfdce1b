import { cutTo } from '../text.ts'
import { readDestination } from './public-url.ts'

/** A chat with incoming webhooks, and its text format. */
export interface Chat {
  bold(text: string): string
  /** Escapes user text, so that the chat shows it literally. */
  plain(text: string): string
  /** Builds the body that posts a text, as JSON. */
  body(text: string): string
}

/**
 * The chat of an address, decided by the whole host name: Slack's incoming webhooks, or Discord (its
 * domain with all subdomains, and its former domain). Null for other hosts.
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
  // Slack reads `<…>` as a link or a mention.
  plain: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  body: (text) => JSON.stringify({ text }),
}

/** Discord rejects longer messages. */
const maxDiscordLength = 2000

const discord: Chat = {
  bold: (text) => `**${text}**`,
  // A bracket would start a link that hides its target, and a backslash before it would escape the escape.
  // A zero-width space prevents mentions.
  plain: (text) =>
    text
      .replaceAll(/[\\[]/g, (sign) => `\\${sign}`)
      .replaceAll(/@(?=everyone|here)|<(?=@)/g, (sign) => `${sign}\u200B`),
  body: (text) => JSON.stringify({ content: cutTo(text, maxDiscordLength) }),
}
