import { once } from 'node:events'
import type { TestContext } from 'node:test'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail server that keeps what it takes, on loopback. */
export interface Mailbox {
  /** The settings that have a service send its mail there. */
  readonly env: Record<string, string>
  /** Mails so far, read, each with who it was for. */
  readonly mails: (Email & { recipients: string[] })[]
  /** The one mail that came since this was asked last. */
  next(): Email & { recipients: string[] }
}

/** Starts a mail server and stops it after the test. */
export async function startMailbox(
  t: TestContext,
  options: SMTPServerOptions = {},
  credentials = '',
): Promise<Mailbox> {
  const mails: Mailbox['mails'] = []
  let seen = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const recipients = session.envelope.rcptTo.map(({ address }) => address)
        mails.push({ ...(await PostalMime.parse(Buffer.concat(chunks))), recipients })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.after(() => new Promise<void>((closed) => server.close(closed)))
  const { port } = server.server.address() as { port: number }
  return {
    env: {
      PLUMBLINE_SMTP_URL: `smtp://${credentials}127.0.0.1:${port}`,
      PLUMBLINE_MAIL_FROM: 'Plumbline <plumbline@plumbline.test>',
    },
    mails,
    next() {
      const [mail, ...more] = mails.slice(seen)
      seen = mails.length
      if (mail === undefined || more.length > 0) throw new Error(`${more.length + 1} mails came`)
      return mail
    },
  }
}

/** The only address in a text of a mail that leads below this one. */
export function linkIn(text: string | undefined, base: string): string {
  const links = (text ?? '').split(/\s+/).filter((word) => word.startsWith(base))
  if (links.length !== 1 || links[0] === undefined) throw new Error(`no single link: ${text}`)
  return links[0]
}
