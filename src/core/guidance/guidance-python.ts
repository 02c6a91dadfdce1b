import { type Recipe, stepNotes } from './recipe.ts'

/** Recipes for Python, by its standard library alone. */
export const pythonRecipes = {
  python: (baseUrl: string): Recipe => ({
    steps: [
      'Save the snippet as plumbline.py; it needs Python’s standard library and nothing else.',
      'Set PLUMBLINE_KEY to a key of your account.',
      'Make one Run per errand, with the user’s own words; call step at each new thing the agent does.',
    ],
    files: [{ path: 'plumbline.py', language: 'python', text: python(baseUrl) }],
    notes: stepNotes(
      'Every call waits a second at most and answers None where there is no verdict; it never raises.',
    ),
  }),

  crewai: (baseUrl: string): Recipe => ({
    steps: [
      'Save the snippet beside your crew and import it before `kickoff`. It needs Python’s standard library and CrewAI.',
      'Set PLUMBLINE_KEY to a key of your account.',
      'Call `begin(errand)` with the user’s own words, then `crew.kickoff()`, then `end()`.',
    ],
    files: [{ path: 'plumbline_crew.py', language: 'python', text: crewai(baseUrl) }],
    notes: [
      'Every task of the crew is a step, reported when it begins; its description is the goal. All agents of the crew are measured against the one errand.',
      'Reports are delivered by one thread of their own, in order; a server that is down costs the crew nothing, and what it did not take within a second is lost. `end` waits for what is left, two seconds at most.',
      'A crew has no user turns of its own: where a person answers (human_input), call `begin` with the new errand and the same run.',
      'The events and their fields follow CrewAI’s documentation of version 1.15 (crewai.events, TaskStartedEvent with its task); it was not run here inside CrewAI.',
    ].join(' '),
  }),
} as const

function python(baseUrl: string): string {
  return `import json
import os
import urllib.request
import uuid


class Run:
    """One errand of the user. A call answers the verdict, or None, and never raises."""

    def __init__(self, errand, base=${JSON.stringify(baseUrl)}):
        self.run_id = "run_" + uuid.uuid4().hex
        self._base = base
        self._errand = errand

    def step(self, goal, **more):
        """more: distance (0-10), progress, tokens, parent_goal, agent_id."""
        step = {"run_id": self.run_id, "goal": goal, "step_id": uuid.uuid4().hex, **more}
        if "agent_id" not in more:
            step.setdefault("ground", self._errand)
        return self._post("/v1/drift", step)

    def user_turn(self, words, **more):
        self._errand = words
        return self.step(words, user_turn=True, **more)

    def outcome(self, outcome, **more):
        return self._post("/v1/drift/outcome", {"run_id": self.run_id, "outcome": outcome, **more})

    def _post(self, path, body):
        try:
            request = urllib.request.Request(
                self._base + path,
                data=json.dumps(body).encode(),
                headers={
                    "authorization": "Bearer " + os.environ["PLUMBLINE_KEY"],
                    "content-type": "application/json",
                },
            )
            with urllib.request.urlopen(request, timeout=1) as response:
                return json.load(response)
        except Exception:
            return None
`
}

function crewai(baseUrl: string): string {
  return `import json
import os
import queue
import threading
import urllib.request
import uuid

from crewai.events import TaskStartedEvent, crewai_event_bus

BASE = ${JSON.stringify(baseUrl)}
_waiting = queue.Queue()
_run = {}


def begin(errand, run_id=None):
    """Sets the ground, in the user's own words; with the run_id of a run, moves it."""
    _run["id"] = run_id or "crew_" + uuid.uuid4().hex
    _report(goal=errand, user_turn=True, distance=10)
    return _run["id"]


def end(outcome="success"):
    """Sets what became of the run, and waits for what is left to report."""
    _waiting.put(("/v1/drift/outcome", {"run_id": _run["id"], "outcome": outcome}))
    left = threading.Thread(target=_waiting.join, daemon=True)
    left.start()
    left.join(2)


@crewai_event_bus.on(TaskStartedEvent)
def _on_task(source, event):
    task = getattr(event, "task", None) or source
    goal = getattr(task, "description", None) or getattr(event, "task_name", None)
    if goal and _run:
        _report(goal=goal[:4000])


def _report(**step):
    _waiting.put(("/v1/drift", {"run_id": _run["id"], **step}))


def _deliver():
    while True:
        path, body = _waiting.get()
        try:
            request = urllib.request.Request(
                BASE + path,
                data=json.dumps(body).encode(),
                headers={
                    "authorization": "Bearer " + os.environ["PLUMBLINE_KEY"],
                    "content-type": "application/json",
                },
            )
            urllib.request.urlopen(request, timeout=1).close()
        except Exception:
            pass  # The crew goes on.
        finally:
            _waiting.task_done()


threading.Thread(target=_deliver, daemon=True).start()
`
}
