import type { Act } from '../detector/contract/findings.ts'
import { baseOf, clausesOf, wordsIn } from './clauses.ts'
import { deeds } from './deeds.ts'
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
const outward =
  /^(?:e?mail|send|forward|post|upload|copy|share|paste|submit|publish|broadcast|mirror|transmit|hand|handing|sending|forwarding|uploading|sharing|posting)\b.{0,80}(?:\b(?:https?:\/\/|[\w.-]+@[\w-]+\.)|\b(?:external|third[ -]party|unknown|stranger|outside|anonymous|public)\b|\b(?:mailbox|inbox|entire (?:list|database|folder)|customer (?:list|data|database)|guest (?:list|database)|patient (?:list|data))\b)/i

/** The consequence of each word that does a deed with one; the first deed of a word counts. */
const consequenceOf = new Map(
  deeds
    .toReversed()
    .flatMap(({ consequence, words }) =>
      consequence === null || consequence === 'send'
        ? []
        : [...words].map((doing) => [doing, consequence] as const),
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
  for (const { text, words, negated } of clausesOf(goal)) {
    if (negated) continue
    const shown = text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
    if (secretDeeds.test(text) && secretWords.test(text)) return { kind: 'secret', text: shown }
    if (grants.test(text) || exposes.test(text)) return { kind: 'grant', text: shown }
    if (outward.test(text)) return { kind: 'send', text: shown }
    const head = baseOf(words[0]?.key ?? '')
    const consequence = consequenceOf.get(head)
    if (consequence !== undefined && !harmless.test(text) && !isNoun(words)) {
      return { kind: consequence, text: shown }
    }
  }
  const command = mayBeCommand.test(goal) ? irreversibleIn(goal) : null
  const deed = deeds.find(
    ({ consequence, irreversible }) =>
      consequence !== null && command !== null && irreversible.includes(command),
  )
  if (deed?.consequence == null || harmless.test(goal)) return null
  return { kind: deed.consequence, text: goal.slice(0, longestText).toWellFormed() }
}

// "Merge request", "Deploys in the window", "Drop to 300", "after the merge": no deed.
function isNoun([first, second]: readonly { key: string }[]): boolean {
  if (/(?:s|ed)$/.test(first?.key ?? '') && first?.key !== 'process') return true
  return /^(?:requests?|conflicts?|commit|on|to|address|window|it)$/.test(second?.key ?? '')
}

const asked: Record<'send' | 'grant' | 'secret', RegExp> = {
  send: /\b(?:send|forward|e-?mail|mail|share|post|upload|submit|publish|notify|contact|write to|reply|export|message|broadcast|invite|to\s+\S+@)/i,
  grant:
    /\b(?:grant|access|permissions?|rights?|role|admin|invite|onboard|owner|collaborator|sudo|user|account|public|publicly|expose[ds]?|reachable|internet)\b/i,
  secret:
    /\b(?:passwords?|credentials?|keys?|secrets?|token|cookie|login|log in|rotate|vault|auth\w*|otp|kubeconfig)\b/i,
}

const address = /[\w.+-]{1,64}@[\w-]{1,63}\.\w/
const asksToSend =
  /\b(?:send|forward|share|write|reply|invite|contact|notify|mail (?:it|them|him|her)|email (?:it|them|him|her))\b/i

function isAskedFor({ kind, text: done }: Act, texts: readonly string[]): boolean {
  // "The email from Alice" asks for no mail to an address that nobody named.
  if (kind === 'send' && address.test(done)) return texts.some((text) => asksToSend.test(text))
  if (kind === 'send' || kind === 'grant' || kind === 'secret') {
    return texts.some((text) => asked[kind].test(text))
  }
  const doing = deeds.filter(({ consequence }) => consequence === kind)
  return texts.some((text) =>
    clausesOf(text).some(
      (clause) =>
        !clause.negated &&
        wordsIn(clause.text).some(({ key }) => {
          const base = baseOf(key)
          return doing.some(({ words, implied }) => words.has(base) || implied.has(base))
        }),
    ),
  )
}
