import { createTransport } from 'nodemailer'

/** One mail to one person. */
export interface Letter {
  to: string
  subject: string
  text: string
  html: string
  headers?: Readonly<Record<string, string>>
}

/** What sends mail. */
export interface Mail {
  /** Null when the mail server has taken it, else why not, in words that name no secret. */
  send(letter: Letter): Promise<string | null>
  close(): void
}

/** Where mail goes out and from whom. */
export interface MailParts {
  /** `smtp://` or `smtps://`, with credentials where the server wants them. */
  smtpUrl: string
  from: string
}

const timeouts = {
  /** For the name, the connection, the greeting and each silence; milliseconds. */
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
}

/** Mail over SMTP, a connection for each letter. */
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

/** The server's own words may repeat credentials and addresses. */
function wordsOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  if (typeof responseCode === 'number') return `the mail server answered ${responseCode}`
  return `the mail could not be sent (${typeof code === 'string' ? code : 'unknown'})`
}
