/** A number beside the noun that says of what, in a text without spaces between words. */
export interface NumberedNoun {
  /** The noun in English, so that a number can stand for another one in any language. */
  noun: string
  id: string
  text: string
}

const nouns = new Map(
  Object.entries({
    order: '注文 ご注文 発注 オーダー 订单 訂單 주문',
    ticket: 'チケット 工单 工單 单号 票 티켓',
    invoice: '請求書 インボイス 发票 發票 账单 帳單 청구서 송장 인보이스 세금계산서',
    account: '口座 アカウント 账户 帐户 帳戶 账号 賬號 계좌 계정',
    issue: '課題 イシュー 이슈',
    case: '案件 事例 케이스 사건',
    contract: '契約 契約書 合同 계약 계약서',
    booking: '予約 预订 预约 預訂 預約 예약',
    customer: '顧客 お客様 客户 客戶 고객',
    shipment: '荷物 配送 出荷 包裹 快递 运单 運單 배송 택배 소포',
    claim: '申請 申请 신청 청구',
    policy: '保険証券 保单 保單 보험',
    flight: '便 フライト 航班 항공편',
    job: 'ジョブ 任务 任務 작업',
    build: 'ビルド 构建 빌드',
    patient: '患者 病人 환자',
  }).flatMap(([noun, words]) => words.split(' ').map((word) => [word, noun] as const)),
)
const anyNoun = [...nouns.keys()].sort((one, other) => other.length - one.length).join('|')
/** Behind a number these count or measure, and what they count is not named by it. */
const counters =
  '件|個|枚|つ|回|名|人|年|月|日|時|分|秒|円|元|块|个|份|张|張|条|條|次|点|點|本|台|週|周|天|カ月|か月|ヶ月|万|千|百|割|건|개|장|명|원|년|월|일|시간|분|초|회|번째|주|퍼센트|％|%'
const id = '[A-Za-z]{0,4}-?\\d[A-Za-z0-9-]{0,20}'
const marksNumber = '番号|号码|號碼|编号|編號|号|號|番|번호|ID|No\\.?'
const behindNoun = new RegExp(
  `(${anyNoun})(?:${marksNumber})?[\\s:：#＃「『（(]{0,3}(${id})(?![\\w]|[.,]\\d|\\s?(?:${counters}))`,
  'g',
)
const beforeNoun = new RegExp(`(${id})\\s?(?:号|號|番|번)\\s?(?:の)?\\s?(${anyNoun})`, 'g')
const fullWidth = /[０-９Ａ-Ｚａ-ｚ－]/g

const scripts = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}\p{Script=Hangul}]/u
/** What only looks at something, wherever in the sentence it stands. */
const looking =
  /確認|調べ|見て|見る|読[むみん]|検索|比較|照会|表示|参照|查看|检查|檢查|核对|核對|查询|查詢|查找|搜索|比较|比較|看看|阅读|확인|조회|검색|읽|비교|살펴|찾아|보기|[?？]/

/** The numbers in a Japanese, Chinese or Korean text that name one of many: 注文1234, 1234号订单, 주문 1234번. */
export function numberedNounsIn(text: string): NumberedNoun[] {
  if (!scripts.test(text)) return []
  const plain = text.replace(fullWidth, (each) => each.normalize('NFKC'))
  const found: NumberedNoun[] = []
  const add = (said: string, word: string, number: string) => {
    found.push({ noun: nouns.get(word) ?? word, id: number.toLowerCase(), text: said.trim() })
  }
  for (const [said, word = '', number = ''] of plain.matchAll(behindNoun)) add(said, word, number)
  for (const [said, number = '', word = ''] of plain.matchAll(beforeNoun)) add(said, word, number)
  return found
}

/** Whether a text in one of these languages only looks at what it names. */
export function onlyLooks(text: string): boolean {
  return scripts.test(text) && looking.test(text)
}
