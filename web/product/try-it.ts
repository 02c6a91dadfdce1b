import { createClient, type ServiceError } from '../../src/surfaces/client/client.ts'
import { drawLine } from '../shared/plumb-line.ts'
import { hangingRows, hangLayout } from './hanging.ts'
import { piecesOf, type Said, saidOf, swappedWords } from './verdict.ts'

const debounceMs = 300

/** Asks this server about the two texts while they change. */
export function startTryIt(): void {
  const fields = {
    ground: document.querySelector<HTMLInputElement>('#try-ground'),
    goal: document.querySelector<HTMLInputElement>('#try-goal'),
  }
  const { ground, goal } = fields
  const examples = document.querySelector<HTMLElement>('.examples')
  if (ground === null || goal === null || examples === null) return
  const client = createClient({ baseUrl: location.origin, retries: 0 })
  let timer = 0
  let asking = new AbortController()

  function askSoon(waitMs = debounceMs): void {
    clearTimeout(timer)
    asking.abort()
    colour([], [], [])
    timer = window.setTimeout(ask, waitMs)
  }

  async function ask(): Promise<void> {
    const sent = { ground: ground?.value.trim() ?? '', goal: goal?.value.trim() ?? '' }
    if (sent.ground === '' || sent.goal === '') {
      return tell(
        'Both fields want a few words.',
        'The errand, and what the agent says it is doing.',
      )
    }
    asking = new AbortController()
    const { signal } = asking
    try {
      const { verdict } = await client.check(sent, { signal })
      if (signal.aborted) return
      const { ground, goal } =
        verdict.swap == null ? { ground: [], goal: [] } : swappedWords(verdict.swap)
      colour(ground, goal, verdict.words?.shared ?? [])
      show(saidOf(verdict))
    } catch (error) {
      if (signal.aborted) return
      const { status, detail } = error as ServiceError
      if (status === 429) tell('That is enough for today.', detail)
      else if (status === 400) tell('This cannot be measured.', detail)
      else tell('The server did not answer.', 'Nothing is lost. Change a word to ask again.')
    }
  }

  function colour(swappedGround: string[], swappedGoal: string[], shared: readonly string[]): void {
    mirror('ground', ground, swappedGround, [])
    mirror('goal', goal, swappedGoal, shared)
  }

  for (const field of [ground, goal]) {
    field.parentElement?.classList.add('mirrored')
    field.addEventListener('input', () => askSoon())
    field.addEventListener('scroll', () => follow(field))
  }
  examples.hidden = false
  for (const button of examples.querySelectorAll<HTMLButtonElement>('button')) {
    button.addEventListener('click', () => {
      ground.value = button.getAttribute('data-ground') ?? ''
      goal.value = button.getAttribute('data-goal') ?? ''
      askSoon(0)
    })
  }
  askSoon(0)
}

/** Shows the text of a field once more, with its words coloured; the field’s own text is see-through. */
function mirror(
  name: string,
  field: HTMLInputElement | null,
  swapped: readonly string[],
  shared: readonly string[],
): void {
  const shown = document.querySelector<HTMLElement>(`#mirror-${name}`)
  if (shown === null || field === null) return
  shown.replaceChildren(
    ...piecesOf(field.value, swapped, shared).map(({ text, kind }) => {
      const piece = document.createElement('span')
      piece.className = kind === 'swapped' ? `swapped ${name}` : kind
      piece.textContent = text
      return piece
    }),
  )
  follow(field)
}

function follow(field: HTMLInputElement): void {
  const shown = field.previousElementSibling
  if (shown !== null) shown.scrollLeft = field.scrollLeft
}

function show({ word, isDrift, sentence, numbers, phi, mark }: Said): void {
  const hang = document.querySelector('#hang')
  if (hang !== null) hang.innerHTML = drawLine(hangingRows({ phi, mark }), hangLayout)
  const strong = document.createElement('strong')
  strong.textContent = word
  if (isDrift) strong.className = 'drift-text'
  say([strong, ` ${sentence}`], numbers)
}

/** Says something that is no verdict. */
function tell(sentence: string, more: string): void {
  document.querySelector('#hang')?.replaceChildren()
  const strong = document.createElement('strong')
  strong.textContent = sentence
  say([strong], more)
}

function say(sentence: (Node | string)[], numbers: string): void {
  const [first, second] = ['sentence', 'numbers'].map((name) => {
    const paragraph = document.createElement('p')
    paragraph.className = name
    return paragraph
  })
  if (first === undefined || second === undefined) return
  first.append(...sentence)
  second.textContent = numbers
  document.querySelector('#verdict')?.replaceChildren(first, second)
}
