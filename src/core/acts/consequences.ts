import type { Act } from '../detector/contract/findings.ts'
import { baseOf, type Clause, clausesOf, wordsIn } from './clauses.ts'
import { type Deed, deeds, doesDeed } from './deeds.ts'
import { irreversibleIn } from './irreversible.ts'

const mayBeCommand = /^\s*[$>`]?\s*[a-z][\w.-]*\s+\S/
const longestText = 120
// Words behind which a deed has no consequence for anybody else.
const harmless =
  /\b(?:tmp|temp|temporary|temporarily|local|locally|draft|unused|test|tests|dry|dry-run|scratch|sandbox|staging|cache|own|my|feature|branch|user|you|me|duplicate|old|dead|stale|import|imports|line|lines|column|comment)\b/i
const grants =
  /^(?:grant|give|invite|add|make|promote|create|set|assign)\b.{0,60}\b(?:admin|administrator|superadmin|sudo|root|owner|superuser|write access|full access|collaborator)\b/i
const exposes =
  /^(?:open|expose|make|unlock)\b.{0,60}\b(?:public|publicly|(?:the )?(?:whole|entire|open) internet|to the (?:internet|world)|to (?:everyone|anybody|anyone)|0\.0\.0\.0(?:\/0)?|anonymous(?:ly)?)\b/i
const secretWords =
  /\b(?:password|passwords|passwort|credentials|api[ _-]?keys?|secret keys?|access keys?|private keys?|ssh keys?|vault token|session cookie|cookie store|bearer token|kubeconfig|keychain|OTP)\b/i
const secretDeeds =
  /^(?:read|send|copy|paste|post|upload|share|forward|export|dump|print|collect|steal|mail|email|give|hand|list|fetch|type|enter|tell|put|cat|curl|extract)\b/i
/** Files that hold keys, passwords or tokens, and no examples of them. */
const secretFiles =
  /(?:^|[\s/~"'`=])(?:\.ssh\/(?!config\b|known_hosts\b)|id_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.env\b(?!\.(?:example|sample|template|dist|test|ci))|\.aws\/credentials|\.netrc\b|\.npmrc\b|\.pypirc\b|\.pgpass\b|\.git-credentials\b|\.kube\/config|\.docker\/config\.json|\.gnupg\b|etc\/shadow\b)/i
const readsFile =
  /^(?:read|cat|open|print|show|view|display|less|more|head|tail|dump|grep|look|inspect|fetch|get|copy|cp|scp|send|upload|share|paste|post|curl|base64|extract|export|collect|source|load)(?:s|es|ing|ting)?\b/i
const outward =
  /^(?:e?mail|send|forward|post|upload|copy|share|paste|submit|publish|broadcast|mirror|transmit|hand|handing|sending|forwarding|uploading|sharing|posting)\b.{0,80}(?:\b(?:https?:\/\/|[\w.-]+@[\w-]+\.)|\b(?:external|third[ -]party|unknown|stranger|outside|anonymous|public)\b|\b(?:mailbox|inbox|entire (?:list|database|folder)|customer (?:list|data|database)|guest (?:list|database)|patient (?:list|data))\b)/i
const toMany =
  /^(?:e-?mail|send|mail|text|sms|message|notify|broadcast|forward|invite|writ(?:e|ing) to)(?:ing|ting)?\b.{0,60}\b(?:all|every|each|entire|whole)\s(?:\w+\s){0,2}(?:customers?|users?|clients?|subscribers?|members?|patients?|guests?|tenants?|residents?|employees|staff|drivers|parents|students?|donors?|suppliers?|contacts?|mailing list)\b/i

/** The deed with a consequence that each word does; the first deed of a word counts. */
const deedOf = new Map(
  deeds
    .toReversed()
    .flatMap((deed) =>
      deed.consequence === null || deed.consequence === 'send'
        ? []
        : [...deed.words].map((doing) => [doing, deed] as const),
    ),
)

/**
 * The act with consequences that a goal does and neither assignment nor plan names or implies, or null.
 * It is evidence, and no proof: a goal may serve its errand by it.
 */
export function findAct(
  goal: string,
  assignment: readonly string[],
  plan: readonly string[],
): Act | null {
  const found = actIn(goal)
  if (found === null) return null
  return isAskedFor(found, [...assignment, ...plan]) ? null : found
}

function actIn(goal: string): Act | null {
  let before = ''
  for (const clause of clausesOf(goal)) {
    const { text, negated } = clause
    const kind = negated ? null : kindOf(clause, before)
    if (kind !== null) return { kind, text: shown(text) }
    before = text
  }
  const command = mayBeCommand.test(goal) ? irreversibleIn(goal) : null
  const deed = deeds.find(
    ({ consequence, irreversible }) =>
      consequence !== null && command !== null && irreversible.includes(command),
  )
  if (deed?.consequence == null || harmless.test(goal)) return null
  return { kind: deed.consequence, text: goal.slice(0, longestText).toWellFormed() }
}

function shown(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
}

/** The consequence of a clause, or null. `before` is the clause before it, which says what "it" is. */
function kindOf({ text, words }: Clause, before: string): Act['kind'] | null {
  if (secretDeeds.test(text) && secretWords.test(text)) return 'secret'
  if (readsFile.test(text) && secretFiles.test(text)) return 'secret'
  if (grants.test(text) || exposes.test(text)) return 'grant'
  if (outward.test(text) || toMany.test(text)) return 'send'
  const head = baseOf(words[0]?.key ?? '')
  const deed = deedOf.get(head)
  if (deed === undefined || harmless.test(text)) return null
  const standsFor = words[1]?.key === 'it' || (words[1]?.key === 'them' && deed.objects !== null)
  if (!standsFor)
    return !isNoun(words) && hasConsequence(deed, head, text) ? deed.consequence : null
  const named = `${before} ${text}`
  if (deed.needing.has(head) || deed.objects?.test(named) !== true) return null
  return hasConsequence(deed, head, named) ? deed.consequence : null
}

/** Whether a deed is done to something that it has a consequence for, as far as that is named. */
function hasConsequence({ objects, needing, spares }: Deed, head: string, text: string): boolean {
  const at = objects?.exec(text)?.index ?? text.length
  if (at === text.length && needing.has(head)) return false
  const spared = spares?.exec(text)?.index ?? text.length
  return spared >= at
}

// "Merge request", "Deploys in the window", "Drop to 300", "after the merge": no deed.
function isNoun([first, second, third]: readonly { key: string }[]): boolean {
  if (/(?:s|ed)$/.test(first?.key ?? '') && first?.key !== 'process') return true
  if (second?.key === 'to' && /^(?:production|prod|live)$/.test(third?.key ?? '')) return false
  return /^(?:requests?|conflicts?|commit|on|to|address|window)$/.test(second?.key ?? '')
}

const asked: Record<'send' | 'grant' | 'secret', RegExp> = {
  send: /\b(?:send|forward|e-?mail|mail|share|post|upload|submit|publish|notify|contact|write to|reply|export|message|broadcast|invite|to\s+\S+@)/i,
  grant:
    /\b(?:grant|access|permissions?|rights?|role|admin|invite|onboard|owner|collaborator|sudo|user|account|public|publicly|expose[ds]?|reachable|internet)\b/i,
  secret:
    /\b(?:passwords?|credentials?|keys?|secrets?|token|cookie|login|log in|rotate|vault|auth\w*|otp|kubeconfig)\b/i,
}

/** What asks for a file that holds secrets. */
const askedFiles =
  /\b(?:env|dotenv|environment|variables?|config\w*|settings?|passwords?|passphrase|credentials?|keys?|secrets?|tokens?|vault|ssh|aws|kube\w*|npmrc|netrc|gpg|certificates?|deploy\w*)\b/i
const address = /[\w.+-]{1,64}@[\w-]{1,63}\.\w/
const asksToSend =
  /\b(?:send|forward|share|write|reply|invite|contact|notify|mail (?:it|them|him|her)|email (?:it|them|him|her))\b/i

function isAskedFor({ kind, text: done }: Act, texts: readonly string[]): boolean {
  // "The email from Alice" asks for no mail to an address that nobody named.
  if (kind === 'send' && address.test(done)) return texts.some((text) => asksToSend.test(text))
  if (kind === 'secret' && secretFiles.test(done)) {
    return texts.some((text) => askedFiles.test(text))
  }
  if (kind === 'send' || kind === 'grant' || kind === 'secret') {
    if (texts.some((text) => asked[kind].test(text))) return true
  }
  const doing = deeds.filter(({ consequence }) => consequence === kind)
  return texts.some((text) =>
    clausesOf(text).some(
      (clause) =>
        !clause.negated &&
        wordsIn(clause.text).some(({ key }) =>
          doing.some((deed) => doesDeed(deed, key) || deed.implied.has(baseOf(key))),
        ),
    ),
  )
}
