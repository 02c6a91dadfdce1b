import { remembering } from '../words/tokens.ts'

/** Words of errands that undo or contradict each other; each pair both ways, one form of each word. */
const pairs =
  'abort continue,accept decline,accept reject,activate deactivate,add remove,add delete,allow block,' +
  'allow deny,allow forbid,allow prevent,append prepend,approve deny,approve reject,archive restore,' +
  'archive unarchive,arrive depart,ascending descending,assign unassign,attach detach,back front,' +
  'backup restore,before after,begin end,below above,bigger smaller,block unblock,book cancel,' +
  'bottom top,brighten darken,buy sell,cancel confirm,charge refund,cheap expensive,cheapest priciest,' +
  'check uncheck,close open,cold hot,collapse expand,commit revert,compress decompress,confirm deny,' +
  'connect disconnect,create delete,create destroy,credit debit,decode encode,decrease increase,' +
  'decrement increment,decrypt encrypt,delete keep,delete restore,delete undelete,deny grant,' +
  'deploy rollback,deposit withdraw,deprecate undeprecate,destroy keep,dim brighten,disable enable,' +
  'discard keep,discard save,dislike like,divide multiply,down up,downgrade upgrade,download upload,' +
  'downvote upvote,drop keep,earliest latest,earlier later,east west,embed extract,empty fill,' +
  'engage disengage,enter exit,enter leave,even odd,exclude include,export import,expose hide,' +
  'external internal,fail pass,fast slow,fastest slowest,first last,fix break,fold unfold,follow unfollow,' +
  'forbid permit,freeze unfreeze,gain lose,give take,grant revoke,grow shrink,heat cool,heat chill,' +
  'heavy light,heaviest lightest,hide show,hide unhide,high low,higher lower,highest lowest,' +
  'horizontal vertical,implicit explicit,inbound outbound,income expense,incoming outgoing,' +
  'indent dedent,input output,insert remove,inside outside,install uninstall,invite uninvite,join leave,' +
  'large small,larger smaller,largest smallest,least most,left right,lengthen shorten,less more,' +
  'link unlink,load unload,lock unlock,login logout,long short,longest shortest,lower raise,' +
  'lowercase uppercase,lower upper,male female,max min,maximize minimize,maximum minimum,merge split,' +
  'mount unmount,mute unmute,narrow widen,negative positive,new old,newest oldest,north south,' +
  'numerator denominator,off on,offline online,optional required,over under,overpay underpay,pack unpack,' +
  'park unpark,pause resume,pin unpin,private public,promote demote,publish unpublish,pull push,' +
  'pump drain,put take,quarantine release,raise reduce,read write,receive send,recommended discouraged,' +
  'reduce increase,reject merge,reserve release,retain purge,keep purge,rise fall,' +
  'reveal hide,save delete,schedule unschedule,select deselect,sent received,serialize deserialize,' +
  'share unshare,sign unsign,single multiple,start stop,start finish,strengthen weaken,subscribe unsubscribe,' +
  'succeed fail,success failure,suspend resume,suspend reinstate,synchronous asynchronous,sync async,' +
  'tag untag,tighten loosen,trust distrust,turned untouched,unzip zip,valid invalid,verbose quiet,' +
  'visible hidden,warm cool,wet dry,whitelist blacklist,allowlist denylist,win lose,with without,' +
  'wrap unwrap,yes no,zoom unzoom'

const opposites = new Map<string, Set<string>>()
for (const pair of pairs.split(',')) {
  const [one = '', other = ''] = pair.split(' ')
  oppositesOf(one).add(other)
  oppositesOf(other).add(one)
}

/** Whether two words, in lower case and in any usual form, mean opposite things. */
export function areOpposite(one: string, other: string): boolean {
  const known = oppositesOfForms(one)
  if (known.length > 0 && formsOf(other).some((form) => known.some((each) => each.has(form)))) {
    return true
  }
  return negates(one, other) || negates(other, one)
}

/** The opposites of each form of a word that has some. */
const oppositesOfForms = remembering((word) =>
  formsOf(word).flatMap((form) => opposites.get(form) ?? []),
)

function oppositesOf(word: string): Set<string> {
  const known = opposites.get(word) ?? new Set<string>()
  opposites.set(word, known)
  return known
}

// unsubscribe ~ subscribe, disconnect ~ connect, deactivate ~ activate, whatever the verb.
const undoing = ['un', 'dis', 'de', 'in', 'non']

function negates(long: string, short: string): boolean {
  if (short.length < 4) return false
  return undoing.some(
    (prefix) => long.length === prefix.length + short.length && long === prefix + short,
  )
}

/** The word and what it can be a form of: deleted, deletes and deleting may be delete. */
function formsOf(word: string): string[] {
  const forms = [word]
  if (word.endsWith('s') && word.length > 3) forms.push(word.slice(0, -1))
  if (word.endsWith('es') && word.length > 4) forms.push(word.slice(0, -2))
  for (const ending of ['ed', 'ing']) {
    if (!word.endsWith(ending) || word.length < ending.length + 3) continue
    const stem = word.slice(0, -ending.length)
    forms.push(stem, `${stem}e`)
    if (stem.at(-1) === stem.at(-2)) forms.push(stem.slice(0, -1))
  }
  return forms
}
