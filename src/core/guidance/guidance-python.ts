import { type Recipe, stepNotes } from './recipe.ts'

/** Recipes for Python, with the client for Python. */
export const pythonRecipes = {
  python: (baseUrl: string): Recipe => ({
    steps: [
      ...pythonSteps,
      'Save the snippet beside your agent. Call `work` with the agent, a function that yields what it does now, one line at a time, and the user’s own words.',
    ],
    files: [{ path: 'measured.py', language: 'python', text: python(baseUrl) }],
    notes: stepNotes(
      notes(
        'Without a generator call `run.step(goal)` at each new thing the agent does. In asyncio take `AsyncClient`, and await the same methods.',
      ),
    ),
  }),

  crewai: (baseUrl: string): Recipe => ({
    steps: [
      ...pythonSteps,
      'Save the snippet beside your crew and call `kickoff(crew, words)` with the user’s own words in place of `crew.kickoff()`.',
    ],
    files: [{ path: 'plumbline_crew.py', language: 'python', text: crewai(baseUrl) }],
    notes: notes(
      'Every task of the crew is a step, reported when it begins; its description is the goal. All agents of the crew are measured against the one errand, and one crew is measured at a time. A crew has no user turns of its own: where a person answers (human_input), call `hear(words, run)`. The events and their fields follow CrewAI’s documentation of version 1.15 (crewai.events, TaskStartedEvent with its task); it was not run here inside CrewAI.',
    ),
  }),
} as const

const pythonSteps = [
  'Install the client from the server’s repository, `pip install ./clients/python`: Python 3.9 or newer and its standard library, nothing else.',
  'Set PLUMBLINE_KEY to a key of your account.',
]

/** What holds for every recipe with the client, then what is its own. */
function notes(own: string): string {
  return [
    'When the user writes again in the same conversation, `hear(words, run)` hands the words over as `user_message`: the service reads whether they add to the errand, correct it, replace it or do nothing. A tool’s answer or another agent’s message is not the user’s.',
    'The run is stored as `run.run_id`; without `on_error` a wrong key or address is said once on standard error. The client is closed, and delivers what is left, when the program ends.',
    '`run.step` answers the verdict, or None after 250 ms, and never raises: while the server is away the agent goes on, and the steps are delivered later, in order and once.',
    own,
  ].join(' ')
}

/** What the snippets have in common: the client, and what the user says. */
function preamble(baseUrl: string): string {
  return `client = Client(${JSON.stringify(baseUrl)}, key=os.environ.get("PLUMBLINE_KEY"))
# Delivers what is left when the program ends.
atexit.register(client.close)


def hear(words, run=None):
    """Takes what the user says: the first words are the errand of a new run, later ones go to the run before. The
    service keeps it as run.run_id."""
    if run is None:
        return client.run(ground=words)
    run.user_message(words)
    return run
`
}

function python(baseUrl: string): string {
  return `import atexit
import os

from plumbline import Client

${preamble(baseUrl)}

def work(agent, words, run=None):
    """Lets an agent work on what the user says and reports each thing that it does. When the user goes on, give the
    run that was returned, with its id."""
    run = hear(words, run)
    try:
        for goal in agent(words):
            verdict = run.step(goal)
            if verdict and verdict["drifting"] and verdict["confidence"] >= 0.5:
                print(verdict["why"])
        run.outcome("success")
    except Exception:
        run.outcome("failure")
        raise
    return run, run.run_id
`
}

function crewai(baseUrl: string): string {
  return `import atexit
import os

from crewai.events import TaskStartedEvent, crewai_event_bus
from plumbline import Client

${preamble(baseUrl)}

_now = {}


def kickoff(crew, words, run=None, **more):
    """Lets a crew work on what the user says. Returns what the crew does, the run and its id; when the user goes on, give
    the run."""
    run = _now["run"] = hear(words, run)
    try:
        result = crew.kickoff(**more)
        run.outcome("success")
        return result, run, run.run_id
    except Exception:
        run.outcome("failure")
        raise
    finally:
        _now.clear()


@crewai_event_bus.on(TaskStartedEvent)
def _on_task(source, event):
    task = getattr(event, "task", None) or source
    goal = getattr(task, "description", None) or getattr(event, "task_name", None)
    run = _now.get("run")
    if goal and run:
        run.step(goal[:4000])
`
}
