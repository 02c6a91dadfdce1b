import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { isSpelledKey } from './core/accounts/keys.ts'
import {
  builtInTiers,
  isTierName,
  overrideTiers,
  type Tier,
  type TierName,
} from './core/accounts/tiers.ts'
import {
  nothingAllowed,
  readWebhookAllowance,
  type WebhookAllowance,
} from './core/alerts/public-url.ts'
import type { Adaptation } from './core/detector/contract/adaptation.ts'
import type { DetectorName } from './core/detector/contract/detector.ts'
import { defaultDetector, detectorNames } from './core/detector/contract/detector.ts'
import { readTable } from './core/detector/meaning/adaptation-table.ts'
import { isLimit } from './core/detector/step.ts'
import { parseJson } from './core/text.ts'

/** All settings of a process, parsed once and trusted afterwards. */
export interface Config {
  /** 0 picks a free port. */
  port: number
  host: string
  databaseUrl: string
  /** Without a trailing slash; null for the address on which the server listens. */
  baseUrl: string | null
  altBaseUrl: string | null
  detector: DetectorName
  /** The adaptation table of this server, or null. */
  adaptation: Adaptation | null
  /** The score above which a step is drift for the default detector; null for the built-in one. */
  limit: number | null
  /** Daily calls of an address on `/v1/check`; 0 is unlimited. */
  checkPerDay: number
  /** Daily tool calls of an address without a key on `/mcp`; 0 is unlimited. */
  toolsPerDay: number
  /** The header that names the caller's address, in lower case; null for the address of the socket. */
  clientAddressHeader: string | null
  /** The peers whose header is trusted; null trusts loopback and private networks. */
  trustedProxies: BlockList | null
  /** A separate port for `/metrics`; null serves it on the main port. */
  metricsPort: number | null
  tiers: readonly Tier[]
  /** The credential for `/v1/admin/*`; null switches those routes off. */
  adminToken: string | null
  /** The key of the account that the first start creates; null generates a key and shows it. */
  bootstrapKey: string | null
  /** The page on which a caller gets a higher tier; null for the page of this server. */
  upgradeUrl: string | null
  /** The webhooks that are exempt from the rule "https on a public host". */
  webhookAllow: WebhookAllowance
  /** Retries of a failed delivery. */
  alertRetries: number
  /** The payment provider, and the prices there of the tiers that this server sells; null for none. */
  payment: PaymentConfig | null
  /** The identity provider by which people sign in; null for none. */
  identity: ProviderSettings | null
  /** The chat endpoint of `ask_alice`; without one the tool answers by rules. */
  guide: ModelSettings | null
  /** The embeddings endpoint, asked only about uncertain steps; null for none. */
  embeddings: ModelSettings | null
  /** The file of the encoder's weights; `off` for no encoder, null for the file that comes with the program. */
  encoder: string | null
  /** The collector of evaluation results; null for none. */
  otlp: OtlpSettings | null
  /** The mail server and the sender; null switches mail off. */
  mail: MailSettings | null
  logLevel: LogLevel
  /** The URL at which the command line calls the server, without a trailing slash. */
  serverUrl: string
  /** The loopback URL at which the server listens; null if it listens elsewhere, or on a free port. */
  localUrl: string | null
  /** The key of the command line's calls, or null. */
  key: string | null
  /** The folder of what the hooks of hosts need, absolute; null for `.plumbline` in the home of the user. */
  hooksFolder: string | null
  /** Unknown settings with our prefix, for a warning at the start. */
  unknownSettings: string[]
  /** Settings that this version does not have yet, for a warning at the start. */
  laterSettings: string[]
}

/** A model endpoint that speaks the OpenAI protocol. */
export interface ModelSettings {
  /** Without a trailing slash, such as `https://host/v1`. */
  url: string
  key: string | null
  model: string
}

/** An OpenID Connect provider, and the registration of this server there. */
export interface ProviderSettings {
  /** As the provider spells it. */
  issuer: string
  clientId: string
  /** null for a public client. */
  clientSecret: string | null
}

/** The collector of evaluation results, and what goes there. */
export interface OtlpSettings {
  /** The address that log records are posted to. */
  url: string
  headers: Readonly<Record<string, string>>
  /** Every step; otherwise only those that change the label of their agent. */
  all: boolean
  /** With the words of ground, goal and verdict. */
  text: boolean
}

/** The account of this server at Stripe, with the id of the price of each tier that it sells. */
export interface PaymentConfig {
  key: string
  webhookSecret: string
  prices: ReadonlyMap<TierName, string>
  /** The address of a stand-in for Stripe's API; null for Stripe. */
  url: string | null
}

/** The mail server and the sender, which must be set together. */
export interface MailSettings {
  /** `smtp://` or `smtps://`, with credentials if the server needs them. */
  smtpUrl: string
  /** The sender's address, with or without a name. */
  from: string
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

/** All faults of the environment, one sentence each. */
export interface ConfigFaults {
  faults: string[]
}

/** Reads the environment, or returns all its faults at once. An empty value counts as absent. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
): Config | ConfigFaults {
  const given = Object.entries(environment).filter(([, value]) => value?.trim() !== '')
  const result = settings.safeParse(Object.fromEntries(given))
  const faults = [
    ...(result.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`),
    ...missingPartners(given.map(([name]) => name)),
  ]
  if (!result.success || faults.length > 0) return { faults }
  const read = result.data
  const header = read.PLUMBLINE_CLIENT_ADDRESS.toLowerCase()
  const strange = given
    .map(([name]) => name)
    .filter((name) => name.startsWith('PLUMBLINE_') && !Object.hasOwn(settings.shape, name))
  return {
    port: read.PORT,
    host: read.HOST,
    databaseUrl: read.DATABASE_URL,
    baseUrl: read.PLUMBLINE_BASE_URL ?? null,
    altBaseUrl: read.PLUMBLINE_ALT_BASE_URL ?? null,
    detector: read.PLUMBLINE_DETECTOR,
    adaptation: read.PLUMBLINE_ADAPTATION ?? null,
    limit: read.PLUMBLINE_LIMIT ?? null,
    checkPerDay: read.PLUMBLINE_CHECK_PER_DAY,
    toolsPerDay: read.PLUMBLINE_TOOLS_PER_DAY,
    clientAddressHeader: header === 'socket' ? null : header,
    trustedProxies: read.PLUMBLINE_TRUSTED_PROXIES ?? null,
    metricsPort: read.PLUMBLINE_METRICS_PORT ?? null,
    tiers: read.PLUMBLINE_TIERS ?? builtInTiers,
    adminToken: read.PLUMBLINE_ADMIN_TOKEN ?? null,
    bootstrapKey: read.PLUMBLINE_BOOTSTRAP_KEY ?? null,
    upgradeUrl: read.PLUMBLINE_UPGRADE_URL ?? null,
    webhookAllow: read.PLUMBLINE_WEBHOOK_ALLOW ?? nothingAllowed,
    alertRetries: read.PLUMBLINE_ALERT_RETRIES,
    payment: paymentOf(read),
    identity: providerOf(
      read.PLUMBLINE_OIDC_ISSUER,
      read.PLUMBLINE_OIDC_CLIENT_ID,
      read.PLUMBLINE_OIDC_CLIENT_SECRET,
    ),
    guide: modelOf(read.PLUMBLINE_GUIDE_URL, read.PLUMBLINE_GUIDE_KEY, read.PLUMBLINE_GUIDE_MODEL),
    embeddings: modelOf(
      read.PLUMBLINE_EMBEDDINGS_URL,
      read.PLUMBLINE_EMBEDDINGS_KEY,
      read.PLUMBLINE_EMBEDDINGS_MODEL,
    ),
    encoder: read.PLUMBLINE_ENCODER ?? null,
    otlp:
      read.PLUMBLINE_OTLP_URL === undefined
        ? null
        : {
            url: read.PLUMBLINE_OTLP_URL,
            headers: read.PLUMBLINE_OTLP_HEADERS ?? {},
            all: read.PLUMBLINE_OTLP_ALL,
            text: read.PLUMBLINE_OTLP_TEXT,
          },
    mail: mailOf(read.PLUMBLINE_SMTP_URL, read.PLUMBLINE_MAIL_FROM),
    logLevel: read.LOG_LEVEL,
    serverUrl: read.PLUMBLINE_BASE_URL ?? listeningUrl(read.HOST, read.PORT),
    localUrl: localUrl(read.HOST, read.PORT),
    key: read.PLUMBLINE_KEY ?? null,
    hooksFolder: read.PLUMBLINE_HOME ?? null,
    unknownSettings: strange.filter((name) => !planned.test(name)),
    laterSettings: strange.filter((name) => planned.test(name)),
  }
}

function listeningUrl(host: string, port: number): string {
  // A server on all addresses listens on the loopback address too.
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

function localUrl(host: string, port: number): string | null {
  const url = listeningUrl(host, port)
  return port !== 0 && /^http:\/\/(?:localhost|127\.[\d.]+|\[::1\]):/.test(url) ? url : null
}

/** The names of settings that this version does not have yet. */
const planned = /^PLUMBLINE_(?:JUDGE_\w+|WORKERS)$/

/** Settings of one thing: with any of them it needs all those that come first, and may have the others. */
const groups: readonly { all: readonly string[]; more?: readonly string[] }[] = [
  { all: ['PLUMBLINE_SMTP_URL', 'PLUMBLINE_MAIL_FROM'] },
  {
    all: ['PLUMBLINE_OIDC_ISSUER', 'PLUMBLINE_OIDC_CLIENT_ID'],
    more: ['PLUMBLINE_OIDC_CLIENT_SECRET'],
  },
  { all: ['PLUMBLINE_GUIDE_URL', 'PLUMBLINE_GUIDE_MODEL'], more: ['PLUMBLINE_GUIDE_KEY'] },
  {
    all: ['PLUMBLINE_EMBEDDINGS_URL', 'PLUMBLINE_EMBEDDINGS_MODEL'],
    more: ['PLUMBLINE_EMBEDDINGS_KEY'],
  },
  {
    all: ['PLUMBLINE_STRIPE_KEY', 'PLUMBLINE_STRIPE_WEBHOOK_SECRET', 'PLUMBLINE_STRIPE_PRICES'],
    more: ['PLUMBLINE_STRIPE_URL'],
  },
  {
    all: ['PLUMBLINE_OTLP_URL'],
    more: ['PLUMBLINE_OTLP_HEADERS', 'PLUMBLINE_OTLP_ALL', 'PLUMBLINE_OTLP_TEXT'],
  },
]

function missingPartners(given: readonly string[]): string[] {
  return groups.flatMap(({ all, more = [] }) => {
    const other = [...all, ...more].find((name) => given.includes(name))
    if (other === undefined) return []
    return all
      .filter((name) => !given.includes(name))
      .map((name) => `${name}: set it too, because ${other} is set`)
  })
}

function modelOf(
  url: string | undefined,
  key: string | undefined,
  model: string | undefined,
): ModelSettings | null {
  return url === undefined || model === undefined ? null : { url, key: key ?? null, model }
}

function providerOf(
  issuer: string | undefined,
  clientId: string | undefined,
  clientSecret: string | undefined,
): ProviderSettings | null {
  return issuer === undefined || clientId === undefined
    ? null
    : { issuer, clientId, clientSecret: clientSecret ?? null }
}

function paymentOf({
  PLUMBLINE_STRIPE_KEY: key,
  PLUMBLINE_STRIPE_WEBHOOK_SECRET: webhookSecret,
  PLUMBLINE_STRIPE_PRICES: prices,
  PLUMBLINE_STRIPE_URL: url,
}: z.infer<typeof settings>): PaymentConfig | null {
  return key === undefined || webhookSecret === undefined || prices === undefined
    ? null
    : { key, webhookSecret, prices, url: url ?? null }
}

function mailOf(smtpUrl: string | undefined, from: string | undefined): MailSettings | null {
  return smtpUrl === undefined || from === undefined ? null : { smtpUrl, from }
}

const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'send a whole number')
    .transform(Number)
    .refine((number) => number <= max, `send at most ${max}`)

const port = wholeNumber(65_535)

const mailbox = /^([^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/

const webAddress = z
  .string()
  .refine(isWebAddress, 'send an http:// or https:// address')
  // `href` is ASCII, and a header can carry nothing else.
  .transform((url) => new URL(url).href.replace(/\/+$/, ''))

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** A secret that a header carries as one token. */
const headerText = z.string().regex(/^[!-~]+$/, 'send ASCII characters without spaces')

/** An address to which secrets go, kept as it is spelled. */
const safeAddress = z
  .string()
  .refine(isSafeAddress, 'send an https:// address, or http:// for a host of this machine')

function isSafeAddress(text: string): boolean {
  if (!isWebAddress(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

const flag = z
  .enum(['true', 'false'], 'send true or false')
  .default('false')
  .transform((value) => value === 'true')

const settings = z.object({
  PORT: port.default(8787),
  HOST: z.string().default('127.0.0.1'),
  DATABASE_URL: z
    .string()
    .regex(
      /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
      'send sqlite:PATH, sqlite::memory: or postgres://…',
    )
    .default('sqlite:./data/plumbline.db'),
  PLUMBLINE_BASE_URL: webAddress.optional(),
  PLUMBLINE_ALT_BASE_URL: webAddress.optional(),
  PLUMBLINE_DETECTOR: z
    .enum(detectorNames, `send ${detectorNames.join(' or ')}`)
    .default(defaultDetector),
  PLUMBLINE_ADAPTATION: z.string().transform(readAdaptationFile).optional(),
  PLUMBLINE_LIMIT: z
    .string()
    .transform(Number)
    .refine(isLimit, 'send a score above 0 and below 0.99, as plumbline eval --budget prints it')
    .optional(),
  PLUMBLINE_CHECK_PER_DAY: wholeNumber(1_000_000_000).default(100),
  PLUMBLINE_OIDC_ISSUER: safeAddress.optional(),
  PLUMBLINE_OIDC_CLIENT_ID: z.string().optional(),
  PLUMBLINE_OIDC_CLIENT_SECRET: z.string().optional(),
  PLUMBLINE_GUIDE_URL: webAddress.optional(),
  PLUMBLINE_GUIDE_KEY: z.string().optional(),
  PLUMBLINE_GUIDE_MODEL: z.string().optional(),
  PLUMBLINE_EMBEDDINGS_URL: webAddress.optional(),
  PLUMBLINE_EMBEDDINGS_KEY: z.string().optional(),
  PLUMBLINE_EMBEDDINGS_MODEL: z.string().optional(),
  PLUMBLINE_ENCODER: z.string().optional(),
  PLUMBLINE_OTLP_URL: z.string().transform(readCollector).optional(),
  PLUMBLINE_OTLP_HEADERS: z.string().transform(readHeaders).optional(),
  PLUMBLINE_OTLP_ALL: flag,
  PLUMBLINE_OTLP_TEXT: flag,
  PLUMBLINE_TOOLS_PER_DAY: wholeNumber(1_000_000_000).default(1000),
  PLUMBLINE_CLIENT_ADDRESS: z
    .string()
    .regex(/^[a-z0-9-]+$/i, 'send the name of a header, or socket')
    .default('cf-connecting-ip'),
  PLUMBLINE_TRUSTED_PROXIES: z.string().transform(readNetworks).optional(),
  PLUMBLINE_METRICS_PORT: port.optional(),
  PLUMBLINE_TIERS: z.string().transform(readTierFile).optional(),
  PLUMBLINE_ADMIN_TOKEN: z
    .string()
    // A header can carry these characters as one token.
    .regex(/^[!-~]{16,}$/, 'send at least 16 ASCII characters without spaces')
    .optional(),
  PLUMBLINE_BOOTSTRAP_KEY: z
    .string()
    .refine(isSpelledKey, 'send a whole key, as plumbline keys generate prints one')
    .optional(),
  PLUMBLINE_UPGRADE_URL: webAddress.optional(),
  PLUMBLINE_STRIPE_KEY: headerText.optional(),
  PLUMBLINE_STRIPE_WEBHOOK_SECRET: headerText.optional(),
  PLUMBLINE_STRIPE_PRICES: z.string().transform(readPrices).optional(),
  // Of a stand-in for Stripe, such as tests have; nothing else needs it, so no document and no help names it.
  PLUMBLINE_STRIPE_URL: safeAddress.optional(),
  PLUMBLINE_WEBHOOK_ALLOW: z.string().transform(readAllowance).optional(),
  PLUMBLINE_ALERT_RETRIES: wholeNumber(100).default(5),
  PLUMBLINE_SMTP_URL: z
    .string()
    .refine(isMailServer, 'send an smtp:// or smtps:// address with a host')
    .optional(),
  PLUMBLINE_MAIL_FROM: z
    .string()
    .regex(mailbox, 'send a mail address such as a@b.example or Name <a@b.example>')
    .optional(),
  PLUMBLINE_KEY: z.string().optional(),
  PLUMBLINE_HOME: z
    .string()
    .refine(isAbsolute, 'send the absolute path of a folder')
    .transform((path) => resolve(path))
    .optional(),
  LOG_LEVEL: z.enum(logLevels, `send one of ${logLevels.join(', ')}`).default('info'),
})

/** The names of the settings that the help lists. */
export const settingNames: readonly string[] = Object.keys(settings.shape).filter(
  (name) => name !== 'PLUMBLINE_STRIPE_URL',
)

function isMailServer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return /^smtps?:$/.test(protocol) && hostname !== ''
}

/** The address of the log records below the base address of a collector, as exporters of OpenTelemetry have it. */
function readCollector(text: string, context: z.RefinementCtx): string {
  const url = isWebAddress(text) ? new URL(text) : null
  if (url === null) {
    context.addIssue('send an http:// or https:// address, such as http://127.0.0.1:4318')
    return z.NEVER
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    context.addIssue(
      'send the address alone; credentials belong into PLUMBLINE_OTLP_HEADERS, such as authorization=Bearer%20KEY',
    )
    return z.NEVER
  }
  const base = url.href.replace(/\/+$/, '')
  return base.endsWith('/v1/logs') ? base : `${base}/v1/logs`
}

/** Headers that the protocol or the connection sets. */
const ownHeaders =
  /^(?:content-\w+|host|connection|transfer-encoding|expect|upgrade|te|trailer|keep-alive)$/

/** Headers as `OTEL_EXPORTER_OTLP_HEADERS` has them. A fault names the header and never its value. */
function readHeaders(text: string, context: z.RefinementCtx): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [place, part] of text.split(',').entries()) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase()
    const value = decoded(part.slice(at + 1).trim())
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      context.addIssue(`part ${place + 1} names no header; send NAME=VALUE,NAME=VALUE`)
    } else if (ownHeaders.test(name)) {
      context.addIssue(`${name} cannot be set; send other headers, such as authorization`)
    } else if (value === null || !/^[ -~]+$/.test(value)) {
      context.addIssue(`the value of ${name} is no header; send ASCII text, percent-encoded`)
    } else headers[name] = value
  }
  return headers
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function readAllowance(text: string, context: z.RefinementCtx): WebhookAllowance {
  const allowance = readWebhookAllowance(text)
  if (!('faults' in allowance)) return allowance
  for (const entry of allowance.faults) {
    context.addIssue(
      `"${entry}" is not a host, host:port or network; send a comma-separated list of these, such as 10.0.0.0/8`,
    )
  }
  return z.NEVER
}

function readPrices(text: string, context: z.RefinementCtx): ReadonlyMap<TierName, string> {
  const prices = new Map<TierName, string>()
  const sent = parseJson(text)
  const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent)
  for (const [tier, price] of isObject ? Object.entries(sent) : []) {
    const isPrice = typeof price === 'string' && /^[!-~]+$/.test(price)
    const isSold = isTierName(tier) && tier !== 'ground'
    if (isSold && isPrice && ![...prices.values()].includes(price)) prices.set(tier, price)
    else context.addIssue(`"${tier}": send a paid tier with the id of a price of its own`)
  }
  if (prices.size > 0) return prices
  context.addIssue('send JSON such as {"solo":"price_1…","group":"price_2…"}')
  return z.NEVER
}

function readNetworks(text: string, context: z.RefinementCtx): BlockList {
  const networks = new BlockList()
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [address = '', length, ...more] = entry.split('/')
    const version = isIP(address)
    const longest = version === 6 ? 128 : 32
    const bits = length === undefined ? longest : Number(length)
    const readable = version !== 0 && /^\d+$/.test(length ?? '0') && more.length === 0
    if (!readable || bits > longest) {
      context.addIssue(
        `"${entry}" is not a network; send a comma-separated list such as 10.0.0.0/8, fd00::/8`,
      )
    } else {
      networks.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4')
    }
  }
  return networks
}

function readAdaptationFile(file: string, context: z.RefinementCtx): Adaptation {
  const table = adaptationIn(file)
  if (!('fault' in table)) return table
  context.addIssue(`${file}: ${table.fault}; send a file that plumbline adapt has written`)
  return z.NEVER
}

function adaptationIn(file: string): ReturnType<typeof readTable> {
  try {
    return readTable(readFileSync(file, 'utf8'))
  } catch (error) {
    return { fault: `it cannot be read: ${error instanceof Error ? error.message : error}` }
  }
}

function readTierFile(file: string, context: z.RefinementCtx): readonly Tier[] {
  const tiers = tiersIn(file)
  if (!('faults' in tiers)) return tiers
  for (const fault of tiers.faults) context.addIssue(`${file}: ${fault}`)
  return z.NEVER
}

function tiersIn(file: string): ReturnType<typeof overrideTiers> {
  try {
    return overrideTiers(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    return {
      faults: [`it cannot be read as JSON: ${error instanceof Error ? error.message : error}`],
    }
  }
}
