/** One body of the two-step form of `POST /v1/check`. */
export interface TwoGoals {
  ground: string
  goal: string
  progress: 'advancing'
  distance: number
}

/**
 * `count` check bodies: every other goal stays on its ground, the others leave it. No two are
 * alike, so that a small cache does not flatter whoever answers them.
 */
export function checkBodies(count: number): TwoGoals[] {
  return Array.from({ length: count }, (_, n) => ({
    ground: englishGoal(n),
    goal: englishGoal(n + (n % 2 === 0 ? sameErrand : otherErrand)),
    progress: 'advancing',
    distance: n % 11,
  }))
}

/** The goal of step `n` in 60 ASCII characters, different from its neighbours' in one to four words. */
export function englishGoal(n: number): string {
  const [verb, part, place] = chosen(n, english)
  return `${verb} the ${part} of the ${place} in release ${fourDigits(n)}`
}

/**
 * The goal of step `n` of run `run` in about 60 ASCII characters: the run's errand, then parts of the
 * work on it, and three steps of each 30 that leave it. No two are alike.
 */
export function goalOfRun(run: number, n: number): string {
  const [, part, place] = chosen(run * perColumn, english)
  if (n === 0) return `Rework the ${part} of the ${place}`
  const number = `${run}-${n}`
  if (n % stretch >= staysFor)
    return `Compare the flight prices to Lisbon for a holiday, offer ${number}`
  return `${parts[n % parts.length]} the ${part} of the ${place}, ticket ${number}`
}

/** The goal of step `n` in 60 characters, all but four of them Chinese. */
export function chineseGoal(n: number): string {
  const [verb, part, place] = chosen(n, chinese)
  return `在第${fourDigits(n)}版里${verb}${place}的${part}，保持原有调用方的行为不变，补充自动化测试和使用说明文档，最后由值班工程师复核确认`
}

type Vocabulary = readonly [
  verbs: readonly string[],
  parts: readonly string[],
  places: readonly string[],
]

// Words of one column have one length, so that all goals have it.
const english: Vocabulary = [
  ['update', 'remove', 'extend', 'verify', 'review'],
  ['token bucket', 'error format', 'access audit', 'search index', 'retry policy'],
  ['login handler', 'order service', 'payment queue', 'billing pages', 'mobile client'],
]

const chinese: Vocabulary = [
  ['更新', '删除', '扩展', '验证', '审查'],
  ['限流规则', '错误格式', '访问审计', '搜索索引', '重试策略'],
  ['登录接口', '订单服务', '支付队列', '账单页面', '手机应用'],
]

const parts = [
  'Write tests for',
  'Read the code of',
  'Profile',
  'Document',
  'Review',
  'Tidy up',
  'Fix',
]
const stretch = 30
const staysFor = 27

const perColumn = 5
// How many goals further on the verb alone is another, and the verb and the part are.
const sameErrand = 1
const otherErrand = perColumn + 1

function chosen(n: number, vocabulary: Vocabulary): string[] {
  return vocabulary.map((column, place) => column[Math.floor(n / perColumn ** place) % perColumn]!)
}

function fourDigits(n: number): string {
  return String(n % 10_000).padStart(4, '0')
}
