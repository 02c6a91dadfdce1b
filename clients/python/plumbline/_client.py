"""Runs of agents, delivered in the background, and every other route of the service."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence

Verdict = Dict[str, Any]
OnError = Callable[["PlumblineError", int], None]

#: Seconds that a step waits for its verdict: short against a call of a model.
BUDGET_S = 0.25
#: Seconds of one request.
REQUEST_S = 10.0
#: Seconds between two tries: doubled from the first to the longest; while the client closes, never more than the last.
FIRST_PAUSE_S, LONGEST_PAUSE_S, CLOSING_PAUSE_S = 0.2, 30.0, 0.5
#: Steps that wait for the service; beyond it the oldest goes that holds no words of the user.
MOST_WAITING = 1_000
#: Statuses that another try may mend, and those of a wrong key or address.
PASSING = (0, 408, 425, 429, 500, 502, 503, 504)
NEVER_WORKS = (401, 403, 404)


class PlumblineError(Exception):
    """A refusal of the service, or no answer: `status` is 0 then. `word` is stable, such as `no_run`."""

    def __init__(self, status: int, word: str, detail: str, retry_after_s: float = 0.0):
        super().__init__(f"{word}: {detail}" if detail else word)
        self.status, self.word, self.detail, self.retry_after_s = status, word, detail, retry_after_s


@dataclass
class Stats:
    """What became of the steps and outcomes of a run."""

    sent: int = 0
    late: int = 0
    failed: int = 0
    dropped: int = 0
    waiting: int = 0


@dataclass
class _Item:
    path: str
    body: Dict[str, Any]
    keeps: bool
    stats: Stats
    answer: "Future[Optional[Verdict]]"
    done: Callable[[Verdict], None]


class Client:
    """A client of one service. It is safe to use from several threads."""

    def __init__(self, base_url: str, key: Optional[str] = None, on_error: Optional[OnError] = None):
        self._base = base_url.rstrip("/")
        self._key = key
        self._on_error = on_error
        self._waiting: Deque[_Item] = deque()
        self._changed = threading.Condition()
        self._is_busy = False
        self._is_closing = False
        self._is_closed = False
        self._is_away = False
        self._has_said = False
        self._thread: Optional[threading.Thread] = None

    def run(
        self,
        ground: Optional[str] = None,
        run_id: Optional[str] = None,
        plan: Optional[Sequence[str]] = None,
        detector: Optional[str] = None,
        budget_s: float = BUDGET_S,
    ) -> "Run":
        """A handle on one run: `ground` is the errand in the user's own words."""
        return Run(self, run_id or f"run_{uuid.uuid4().hex}", ground, plan, detector, budget_s)

    def check(self, ground: str, goal: str, **more: Any) -> Verdict:
        """Judges two goals without a run and a key. Raises `PlumblineError`."""
        return self.request("POST", "/v1/check", {"ground": ground, "goal": goal, **more})["verdict"]

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Dict[str, Any]] = None,
        query: Optional[Dict[str, Any]] = None,
    ) -> Any:
        """Asks any route once, and raises `PlumblineError` if it is refused or does not answer."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        address = self._base + path + (f"?{urllib.parse.urlencode(given)}" if given else "")
        headers = {"content-type": "application/json"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_S) as response:
                return _json_in(response.read())
        except urllib.error.HTTPError as error:
            with error:
                told = _json_in(error.read(64 * 1024), {})
            fields = told if isinstance(told, dict) else {}
            pause = error.headers.get("retry-after") or "0"
            raise PlumblineError(
                error.code,
                str(fields.get("error") or "unreadable"),
                str(fields.get("detail") or ""),
                float(pause) if pause.isdigit() else 0.0,
            ) from None
        except (OSError, ValueError) as error:
            raise PlumblineError(0, "no_answer", str(error)) from error

    def close(self, timeout_s: float = 5.0) -> bool:
        """Delivers what is left for at most `timeout_s` seconds, and says whether all was delivered."""
        end = time.monotonic() + timeout_s
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
            while (self._waiting or self._is_busy) and time.monotonic() < end:
                self._changed.wait(min(0.05, max(0.001, end - time.monotonic())))
            is_done = not self._waiting and not self._is_busy
            self._is_closed = True
            left = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for item in left:
            self._drop(item, "The client was closed.")
        return is_done

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, item: _Item) -> None:
        dropped: Optional[_Item] = None
        with self._changed:
            if self._is_closed:
                dropped = item
                item.stats.waiting += 1
            else:
                item.stats.waiting += 1
                if len(self._waiting) >= MOST_WAITING:
                    oldest = next((each for each in self._waiting if not each.keeps), self._waiting[0])
                    self._waiting.remove(oldest)
                    dropped = oldest
                self._waiting.append(item)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._deliver, name="plumbline", daemon=True)
                    self._thread.start()
                self._changed.notify_all()
        if dropped is not None:
            self._drop(dropped, "The client was closed." if self._is_closed else "Too many steps were waiting.")

    def _drop(self, item: _Item, detail: str) -> None:
        item.stats.waiting -= 1
        item.stats.dropped += 1
        self._report(PlumblineError(0, "dropped", detail), 1)
        item.answer.set_result(None)

    def _deliver(self) -> None:
        """Delivers one item after the other, each until there is an answer, so that none overtakes another."""
        while True:
            with self._changed:
                while not self._waiting:
                    self._is_busy = False
                    self._changed.notify_all()
                    if self._is_closed:
                        return
                    self._changed.wait()
                item = self._waiting.popleft()
                self._is_busy = True
            pause = FIRST_PAUSE_S
            while True:
                try:
                    answer = self.request("POST", item.path, item.body)
                    item.stats.waiting -= 1
                    item.stats.sent += 1
                    self._is_away = False
                    item.done(answer)
                    item.answer.set_result(answer)
                    break
                except PlumblineError as error:
                    if error.status not in PASSING or self._is_closed:
                        item.stats.waiting -= 1
                        item.stats.failed += 1
                        self._report(error, 1)
                        item.answer.set_result(None)
                        break
                    self._report(error, 0)
                    self._pause(max(pause, min(error.retry_after_s, LONGEST_PAUSE_S)))
                    pause = min(pause * 2, LONGEST_PAUSE_S)
                except Exception as error:  # A fault of this client must not end the delivery.
                    item.stats.waiting -= 1
                    item.stats.failed += 1
                    self._report(PlumblineError(0, "unreadable", repr(error)), 1)
                    item.answer.set_result(None)
                    break

    def _pause(self, seconds: float) -> None:
        """Waits between two tries. A client that closes cuts it short, for its caller waits."""
        with self._changed:
            if self._is_closing:
                self._changed.wait_for(lambda: self._is_closed, min(seconds, CLOSING_PAUSE_S))
            else:
                self._changed.wait_for(lambda: self._is_closing, seconds)

    def _report(self, error: PlumblineError, lost: int) -> None:
        try:
            if self._on_error is not None:
                self._on_error(error, lost)
            elif error.status in NEVER_WORKS and not self._has_said:
                self._has_said = True
                print(f"plumbline: {self._base} took no step: {error}", file=sys.stderr)
        except Exception:
            pass  # What is told of an error must not break the agent.


class Run:
    """One run of an agent. No method raises into the agent."""

    def __init__(
        self,
        client: Client,
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
        self._client = client
        self._budget_s = budget_s
        self._opening = {"ground": ground, "plan": None if plan is None else list(plan), "detector": detector}
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
        agent = agent_id or ""
        opening = self._opening if agent == "" and agent not in self._open else {}
        fields = {
            **opening,
            **({} if plan is None else {"plan": list(plan)}),
            **({} if ground is None else {"ground": ground}),
            "run_id": self.run_id,
            "goal": goal,
            "distance": distance,
            "progress": progress,
            "parent_goal": parent_goal,
            "user_message": user_message,
            "tokens": tokens,
            "agent_id": agent_id,
            # A step whose answer is lost is sent again, and stored once.
            "step_id": uuid.uuid4().hex,
        }
        body = {name: value for name, value in fields.items() if value is not None}

        def done(verdict: Verdict) -> None:
            self.latest = verdict
            if agent not in self._open and verdict.get("revision", 0) > 0:
                self._open.append(agent)

        return self._send("/v1/drift", body, user_message is not None, done)

    def user_message(self, text: str, **more: Any) -> Optional[Verdict]:
        """Hands over what the user has just said, word for word. The service reads whether it adds to the errand,
        corrects it, replaces it or does nothing."""
        return self.step(more.pop("goal", text), user_message=text, **more)

    def outcome(self, outcome: str, *, score: Optional[float] = None, note: Optional[str] = None) -> bool:
        """Sets what became of the run: success, failure, abandoned or unknown. Says whether it is stored by now."""
        fields = {"run_id": self.run_id, "outcome": outcome, "score": score, "note": note}
        body = {name: value for name, value in fields.items() if value is not None}
        return self._send("/v1/drift/outcome", body, True, lambda _: None) is not None

    def _send(
        self, path: str, body: Dict[str, Any], keeps: bool, done: Callable[[Verdict], None]
    ) -> Optional[Verdict]:
        try:
            json.dumps(body)
            answer: "Future[Optional[Verdict]]" = Future()
            self._client._add(_Item(path, body, keeps, self.stats, answer, done))
            # An outage costs the agent one budget, and not one a step.
            return answer.result(0 if self._client._is_away else self._budget_s)
        except Late:
            self.stats.late += 1
            self._client._is_away = True
            return None
        except Exception as error:
            self.stats.failed += 1
            self._client._report(PlumblineError(0, "unsent", repr(error)), 1)
            return None


class AsyncClient:
    """As `Client`, for asyncio: the same delivery in the background, and nothing blocks the loop."""

    def __init__(self, base_url: str, key: Optional[str] = None, on_error: Optional[OnError] = None):
        self._client = Client(base_url, key, on_error)

    def run(self, ground: Optional[str] = None, **more: Any) -> "AsyncRun":
        return AsyncRun(self._client.run(ground, **more))

    async def check(self, ground: str, goal: str, **more: Any) -> Verdict:
        return await _apart(self._client.check, ground, goal, **more)

    async def request(self, method: str, path: str, body: Any = None, query: Any = None) -> Any:
        return await _apart(self._client.request, method, path, body, query)

    async def close(self, timeout_s: float = 5.0) -> bool:
        return await _apart(self._client.close, timeout_s)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncRun:
    """As `Run`, for asyncio."""

    def __init__(self, run: Run):
        self._run = run

    @property
    def run_id(self) -> str:
        return self._run.run_id

    @property
    def stats(self) -> Stats:
        return self._run.stats

    @property
    def latest(self) -> Optional[Verdict]:
        return self._run.latest

    async def step(self, goal: str, **more: Any) -> Optional[Verdict]:
        return await _apart(self._run.step, goal, **more)

    async def user_message(self, text: str, **more: Any) -> Optional[Verdict]:
        return await _apart(self._run.user_message, text, **more)

    async def outcome(self, outcome: str, **more: Any) -> bool:
        return await _apart(self._run.outcome, outcome, **more)


async def _apart(work: Callable[..., Any], *given: Any, **more: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(work, *given, **more))


def _json_in(data: bytes, otherwise: Any = None) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        if otherwise is not None:
            return otherwise
        raise
