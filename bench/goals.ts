/** One body of the two-step form of `POST /v1/check`. */
export interface TwoGoals {
  ground: string
  goal: string
  progress: 'advancing'
  distance: number
}

/**
 * Makes `count` check bodies. Every other goal stays on its ground, and the others leave it. No two are
 * alike, so that a small cache does not help.
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
 * The goal of step `n` of run `run` in about 60 ASCII characters. A run has its errand first, then parts of
 * the work on it; 3 of 30 steps leave it. No two goals are alike.
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

// All words of a column have one length, and so have all goals.
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
// The distance between two goals that differ only in the verb, and between two that differ in verb and part.
const sameErrand = 1
const otherErrand = perColumn + 1

function chosen(n: number, vocabulary: Vocabulary): string[] {
  return vocabulary.map((column, place) => column[Math.floor(n / perColumn ** place) % perColumn]!)
}

function fourDigits(n: number): string {
  return String(n % 10_000).padStart(4, '0')
}
