import { join } from 'node:path'
import { ended, endedAgain, type PlanItem, type Program } from './programs.ts'
import type { Answer, Call, Script } from './stand-in.ts'

/** What the person asks for, and what is asked for later. */
export const errand = 'add rate limiting to the login endpoint'
export const further = 'limit the signup endpoint as well'
export const restyle = 'now restyle the hero section of the landing page, with brighter colours'
/** The task of the sub-agent, with the mark by which the stand-in knows it. */
export const task = 'SUBTASK-A: compare token bucket libraries for Node and name one'

/** The task of the one that ends behind the agent's back. */
export const taskBehind = 'SUBTASK-B: compare sliding windows for Node and name one'

/** What the agent plans to do. */
export const plan = [
  ['Find the login route', true],
  ['Add a token bucket to the login route', false],
  ['Test the rate limit', false],
] as const satisfies readonly PlanItem[]

/** The moments at which the model is asked after so many failing tests. */
export const marks = { three: 'three failures', four: 'four failures' } as const

/** A session that stays on its errand: a plan, edits, a test that fails four times, a sub-agent, a second prompt. */
export function honestScript({ tools }: Program, project: string): Script {
  const attempts = [1, 2, 3, 4].flatMap((nth): Answer[] => [
    {
      ...calling(
        nth === 1 ? 'I add the limiter.' : undefined,
        tools.write(join(project, `src/limit-${nth}.js`), `export const perMinute = ${nth};\n`),
      ),
      ...(nth === 4 ? { mark: marks.three } : {}),
    },
    calling(
      nth === 1 ? 'The tests next.' : undefined,
      tools.run('node --test', 'Run the login tests'),
    ),
  ])
  const looking = [
    calling('I look at which libraries are installed.', tools.run('ls', 'List what is there')),
    ...found,
  ]
  return {
    turns: [
      [
        ...(tools.plan(plan) ?? []).map((calls, nth) =>
          calling(nth === 0 ? 'I will plan the work first.' : undefined, calls),
        ),
        calling(
          'Now I look for the login route.',
          tools.run('grep -rn login src', 'Search for the login route'),
        ),
        calling(undefined, tools.read(join(project, 'src/login.js'))),
        ...attempts,
        { ...calling(undefined, tools.read(join(project, 'src/limit-4.js'))), mark: marks.four },
        ...(tools.delegate(task) === null
          ? []
          : [calling('I delegate the library question.', tools.delegate(task))]),
        ...(tools.wait === null ? [] : [calling(undefined, tools.wait)]),
        { say: ended },
      ],
      [
        ...(tools.delegateBehind === undefined
          ? []
          : [calling('I ask about windows meanwhile.', tools.delegateBehind(taskBehind))]),
        calling('I extend the limit to signup.', tools.run('ls src', 'List the sources')),
        { say: endedAgain },
      ],
    ],
    agents: {
      'SUBTASK-A': looking,
      'SUBTASK-B': looking,
    },
  }
}

/** How a sub-agent ends: with a tool for that where there is one. */
const found: readonly Answer[] = [
  calling(undefined, [
    {
      name: 'complete_task',
      args: {
        report: {
          SummaryOfFindings: 'No library is needed.',
          ExplorationTrace: [],
          RelevantLocations: [],
        },
        result: 'No library is needed.',
      },
    },
  ]),
  { say: 'No library is needed.' },
]

/** A session whose second half is another errand. It comes in the first turn, or in the second if it is asked for. */
export function strayingScript({ tools }: Program, project: string, isAsked: boolean): Script {
  const honest = [
    calling(
      'Now I look for the login route.',
      tools.run('grep -rn login src', 'Search for the login route'),
    ),
    calling(
      'I add a token bucket to the login endpoint.',
      tools.write(join(project, 'src/limit.js'), 'export const perMinute = 5;\n'),
    ),
    calling('I run the login tests.', tools.run('node --test', 'Run the login tests')),
  ]
  const css = (nth: number) =>
    tools.write(
      join(project, `landing/hero${nth === 1 ? '' : `-${nth}`}.css`),
      `.hero { color: #${nth}${nth}${nth} }\n`,
    )
  const other = [
    calling('Next I redesign the hero image of the landing page.', css(1)),
    calling('The brand colours of the landing page look dull, I pick a brighter palette.', css(2)),
    calling('I animate the hero illustration with a parallax effect.', css(3)),
    calling('I compress the background video of the landing page.', css(4)),
  ]
  const end = { say: 'Done.' }
  return isAsked
    ? {
        turns: [
          [...honest, end],
          [...other, end],
        ],
        agents: {},
      }
    : { turns: [[...honest, ...other, end]], agents: {} }
}

function calling(say: string | undefined, calls: readonly Call[] | null): Answer {
  return { ...(say === undefined ? {} : { say }), calls: [calls ?? []] }
}
