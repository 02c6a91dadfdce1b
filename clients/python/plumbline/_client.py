"""Runs of agents, delivered in the background, and every other route of the service."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import Any, Callable, Dict, List, Optional, Sequence

from ._ask import PlumblineError, ask
from ._delivery import Delivery, Item, OnError, Stats, Verdict

#: Seconds that a step waits for its verdict: short against a call of a model.
BUDGET_S = 0.25


class Client:
    """A client of one service. It is safe to use from several threads."""

    def __init__(self, base_url: str, key: Optional[str] = None, on_error: Optional[OnError] = None):
        self._base = base_url.rstrip("/")
        self._key = key
        self._delivery = Delivery(self._base, key, on_error)

    def run(
        self,
        ground: Optional[str] = None,
        run_id: Optional[str] = None,
        plan: Optional[Sequence[str]] = None,
        detector: Optional[str] = None,
        budget_s: float = BUDGET_S,
    ) -> "Run":
        """A handle on one run: `ground` is the errand in the user's own words."""
        return Run(self._delivery, run_id or f"run_{uuid.uuid4().hex}", ground, plan, detector, budget_s)

    def check(self, ground: str, goal: str, **more: Any) -> Verdict:
        """Judges two goals without a run and a key. Raises `PlumblineError`."""
        verdict: Verdict = self.request("POST", "/v1/check", {"ground": ground, "goal": goal, **more})["verdict"]
        return verdict

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Dict[str, Any]] = None,
        query: Optional[Dict[str, Any]] = None,
    ) -> Any:
        """Asks any route once, and raises `PlumblineError` if it is refused or does not answer."""
        return ask(self._base, self._key, method, path, body, query)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Delivers what is left for at most `timeout_s` seconds, and says whether all was delivered."""
        return self._delivery.close(timeout_s)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Run:
    """One run of an agent. No method raises into the agent."""

    def __init__(
        self,
        delivery: Delivery,
        run_id: str,
        ground: Optional[str],
        plan: Optional[Sequence[str]],
        detector: Optional[str],
        budget_s: float,
    ):
        self.run_id = run_id
        self.stats = Stats()
        #: The newest verdict, late or not; None before the first.
        self.latest: Optional[Verdict] = None
        self._delivery = delivery
        self._budget_s = budget_s
        self._opening = {"ground": ground, "plan": plan, "detector": detector}
        self._open: List[str] = []

    def step(
        self,
        goal: str,
        *,
        distance: Optional[int] = None,
        progress: Optional[str] = None,
        plan: Optional[Sequence[str]] = None,
        parent_goal: Optional[str] = None,
        user_message: Optional[str] = None,
        tokens: Optional[int] = None,
        agent_id: Optional[str] = None,
        ground: Optional[str] = None,
    ) -> Optional[Verdict]:
        """Logs what the agent does now. The verdict, or None if it is late, refused or dropped; what is late is
        delivered in the background, in order and once."""
        return self._wait(
            self._begin_step(
                goal,
                distance=distance,
                progress=progress,
                plan=plan,
                parent_goal=parent_goal,
                user_message=user_message,
                tokens=tokens,
                agent_id=agent_id,
                ground=ground,
            )
        )

    def user_message(self, text: str, *, goal: Optional[str] = None, **more: Any) -> Optional[Verdict]:
        """Hands over what the user has just said, word for word. The service reads whether it adds to the errand,
        corrects it, replaces it or does nothing. `goal`, if the agent does something else than these words say."""
        return self.step(text if goal is None else goal, user_message=text, **more)

    def outcome(self, outcome: str, *, score: Optional[float] = None, note: Optional[str] = None) -> bool:
        """Sets what became of the run: success, failure, abandoned or unknown. Says whether it is stored by now."""
        return self._wait(self._begin_outcome(outcome, score, note)) is not None

    def _begin_step(self, goal: str, **given: Any) -> "Future[Optional[Verdict]]":
        agent = given["agent_id"] or ""
        opening = self._opening if agent == "" and agent not in self._open else {}
        told = {name: value for name, value in given.items() if value is not None}
        # A step whose answer is lost is sent again, and stored once.
        fields = {**opening, **told, "run_id": self.run_id, "goal": goal, "step_id": uuid.uuid4().hex}

        def done(verdict: Verdict) -> None:
            self.latest = verdict
            if agent not in self._open and verdict.get("revision", 0) > 0:
                self._open.append(agent)

        return self._begin("/v1/drift", fields, given["user_message"] is not None, done)

    def _begin_outcome(
        self, outcome: str, score: Optional[float], note: Optional[str]
    ) -> "Future[Optional[Verdict]]":
        fields = {"run_id": self.run_id, "outcome": outcome, "score": score, "note": note}
        return self._begin("/v1/drift/outcome", fields, True, lambda _: None)

    def _begin(
        self, path: str, fields: Dict[str, Any], keeps: bool, done: Callable[[Verdict], None]
    ) -> "Future[Optional[Verdict]]":
        """Hands a body over for delivery; one that is no JSON fails at once."""
        answer: "Future[Optional[Verdict]]" = Future()
        try:
            body = {name: value for name, value in fields.items() if value is not None}
            if "plan" in body:
                body["plan"] = list(body["plan"])
            json.dumps(body)
            self._delivery.add(Item(path, body, keeps, self.stats, answer, done))
        except Exception as error:
            self.stats.failed += 1
            self._delivery.report(PlumblineError(0, "unsent", repr(error)), 1)
            answer.set_result(None)
        return answer

    def _patience_s(self) -> float:
        """An outage costs the agent one budget, and not one a step."""
        return 0.0 if self._delivery.is_away else self._budget_s

    def _is_late(self) -> None:
        self.stats.late += 1
        self._delivery.is_away = True

    def _wait(self, answer: "Future[Optional[Verdict]]") -> Optional[Verdict]:
        try:
            return answer.result(self._patience_s())
        except Late:
            self._is_late()
        except Exception as error:
            self._delivery.report(PlumblineError(0, "unread", repr(error)), 0)
        return None
