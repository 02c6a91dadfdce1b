import { createTransport } from 'nodemailer'

/** A mail to one person. */
export interface Letter {
  to: string
  subject: string
  text: string
  html: string
  headers?: Readonly<Record<string, string>>
}

/** Sends mail. */
export interface Mail {
  /** Returns null if the mail server accepted the mail, otherwise the reason, without secrets. */
  send(letter: Letter): Promise<string | null>
  close(): void
}

/** The mail server and the sender address. */
export interface MailParts {
  /** `smtp://` or `smtps://`, with credentials if the server needs them. */
  smtpUrl: string
  from: string
}

const timeouts = {
  /** Limit for the name lookup, the connection, the greeting and each silence; milliseconds. */
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
}

/** Creates mail over SMTP, with one connection for each mail. */
export function createMail({ smtpUrl, from }: MailParts): Mail {
  const transport = createTransport({ url: smtpUrl, ...timeouts })
  return {
    async send(letter) {
      try {
        await transport.sendMail({ ...letter, headers: { ...letter.headers }, from })
        return null
      } catch (error) {
        return wordsOf(error)
      }
    },
    close: () => transport.close(),
  }
}

/** The message of the server may repeat credentials and addresses, so it is not passed on. */
function wordsOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  if (typeof responseCode === 'number') return `the mail server answered ${responseCode}`
  return `the mail could not be sent (${typeof code === 'string' ? code : 'unknown'})`
}
