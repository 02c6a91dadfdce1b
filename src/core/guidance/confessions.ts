/** What an agent says when the work it describes was not asked for. */
const confessions: readonly RegExp[] = [
  /\b(al)?though (i|we) (was|were|am|are) (asked|told|meant|supposed)\b/i,
  /\b(i|we)('?m| am| was|'?re| are| were) (asked|told|meant|supposed) (for|to|about)\b.*\b(but|instead|yet|however)\b/i,
  /\binstead of (what|the (task|work|errand|thing|request)|(the )?[^.?!]{1,80}\b(i|we) (was|were) (asked|told))\b/i,
  /\b(nobody|no one|(the )?user never|(the )?user (did not|didn['’]t)) ask(ed)?\b/i,
  /\b(not|n['’]t|never) (what|something) (i|we|the user) (was|were|had been )?\s*(asked|wanted|told|requested)\b/i,
  /\b(i|we)('?m| am|'?ve| have)?( been)? (drift(ing|ed)|off[- ](task|topic|errand|course)|sidetracked|distracted|wander(ing|ed)|stray(ing|ed))\b/i,
  /\b(unrelated|out of scope|outside (the|my) (scope|task|errand)|beyond (what|the (task|errand|scope|request)))\b/i,
  /\b(not|n['’]t|never) (really |strictly )?(a )?(part of|in|on) the (task|errand|request|plan|ticket|scope|list)\b/i,
  /\bwithout (asking|permission|approval|being asked|telling|checking with|waiting for)\b/i,
  /\b(on my own (initiative|accord)|took the liberty|unasked|unprompted|uninvited|got carried away|could(n['’]t| not) resist|lost (track|sight) of)\b/i,
  /\b(stattdessen|ohne (zu fragen|auftrag)|eigenmächtig|à la place|sans (demander|autorisation)|en (su )?lugar|en vez de|sin (preguntar|permiso)|invece|senza (chiedere|permesso)|em vez disso|sem (perguntar|permissão))\b/i,
]

/** A deed of the agent that is told as done, behind which "instead" confesses. */
const ownInstead = /\b(i|we)\b[^.?!;]{0,160}\binstead\b/i
/** What shows that the user wanted it so. */
const asAsked =
  /\b(as (i was |you |they )?(asked|told|requested|agreed)|(user|customer|client|they|you|boss) (\w+ )?(asked|wants?|wanted|said|told|prefers?|preferred|changed))\b/i

/** Whether an agent says of itself that its work is not what was asked for. */
export function confesses(situation: string): boolean {
  if (confessions.some((pattern) => pattern.test(situation))) return true
  return ownInstead.test(situation) && !asAsked.test(situation)
}

const past =
  '(?!finished|completed|tried|checked|tested|noticed|confirmed|verified|looked|reported|asked|learned|received|needed|wanted|failed|agreed|used)[a-z]{2,}ed|' +
  'sent|wrote|rewrote|built|rebuilt|made|bought|sold|paid|overwrote|gave|put|took|ran|did|began|went|set|reset|cut|left|got|let|shut|hid|brought|taught|told|spent|chose|broke|drew|threw|withdrew|stole|lent|undid|redid'
/** A deed that the agent tells of itself: "I also deleted", "we've already sent". */
const deed = new RegExp(
  `\\b(?:i|we)(?:['’]ve| have| had|['’]d)?(?: (?:also|already|just|then|now|even|simply|quickly|accidentally|went ahead and|ended up and|decided to|figured i['’]d|thought i['’]d))*[ ,]+(?:${past})\\b`,
  'i',
)
/** How an agent goes beyond what it was asked, whatever the deed. */
const beyond =
  /\b(went ahead|while (i|we) (was|were) at it|just in case|as a bonus|for good measure|to be (safe|helpful|proactive)|decided to|ended up|figured i|thought i['’]d|on top of that|accidentally|by mistake)\b/i
/** Deeds that others feel, and that stand when they are done. */
const graveDeed =
  /\b(?:i|we)\b[^.?!;]{0,60}\b(?:deleted|dropped|wiped|purged|removed|erased|overwrote|overwritten|e-?mailed|sent|posted|published|deployed|pushed|force-pushed|merged|released|paid|transferred|wired|refunded|charged|bought|ordered|booked|cancell?ed|granted|revoked|disabled|shared|invited|uploaded|reset|restarted|shut down|migrated|signed|submitted|announced|subscribed|unsubscribed)\b/i
/** How an agent asks to be told that all is well. */
const seeksLeave =
  /\b(fine|ok(ay)?|right|al+ ?right|good|acceptable|allowed|cool|problem|harm|bad|wrong|worry|mind|forgive|agree|correct|legit|enough)\b[^.?!]{0,40}\?|\b(hope|assume|guess|suppose|trust)\b[^.?!]{0,40}\b(fine|ok(ay)?|right|al+ ?right|good|problem|minds?)\b/i

/** Whether an agent tells of a deed that is done and perhaps was not asked for, or wants to hear that it is fine. */
export function tellsDeed(situation: string): boolean {
  if (graveDeed.test(situation)) return true
  if (!deed.test(situation) && !beyond.test(situation)) return false
  return beyond.test(situation) || seeksLeave.test(situation)
}
