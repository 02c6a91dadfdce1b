"""Steps on their way: delivered in the background, in order and once."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Callable, Deque, Dict, Optional

from ._ask import PlumblineError, ask

Verdict = Dict[str, Any]
OnError = Callable[[PlumblineError, int], None]

#: Seconds between two tries: doubled from the first to the longest; while the client closes, never more than the last.
FIRST_PAUSE_S, LONGEST_PAUSE_S, CLOSING_PAUSE_S = 0.2, 30.0, 0.5
#: Steps that wait for the service; beyond it the oldest goes that holds no words of the user.
MOST_WAITING = 1_000
#: Statuses that another try may mend, and those of a wrong key or address.
PASSING = (0, 408, 425, 429, 500, 502, 503, 504)
NEVER_WORKS = (401, 403, 404)


def _works_never(error: PlumblineError) -> bool:
    return error.status in NEVER_WORKS or error.word == "bad_address"


@dataclass
class Stats:
    """What became of the steps and outcomes of a run."""

    sent: int = 0
    late: int = 0
    failed: int = 0
    dropped: int = 0
    waiting: int = 0


@dataclass
class Item:
    """A step or an outcome. `keeps`: it is dropped after all others."""

    path: str
    body: Dict[str, Any]
    keeps: bool
    stats: Stats
    answer: "Future[Optional[Verdict]]"
    done: Callable[[Verdict], None]


class Delivery:
    """The one thread of a client that brings its items to the service."""

    def __init__(self, base: str, key: Optional[str], on_error: Optional[OnError]):
        self.waiting: Deque[Item] = deque()
        #: Whether the service was late or silent last: then no caller waits for it.
        self.is_away = False
        self._base, self._key, self._on_error = base, key, on_error
        self._changed = threading.Condition()
        self._is_busy = False
        self._is_closing = False
        self._is_closed = False
        self._has_said = False
        self._thread: Optional[threading.Thread] = None

    def add(self, item: Item) -> None:
        dropped: Optional[Item] = None
        with self._changed:
            # A process that was forked has the items of its parent and not its thread.
            if not self._is_closed and (self._thread is None or not self._thread.is_alive()):
                self._is_busy = False
                self._thread = threading.Thread(target=self._deliver, name="plumbline", daemon=True)
                self._thread.start()
            item.stats.waiting += 1
            if self._is_closed:
                dropped = item
            else:
                if len(self.waiting) >= MOST_WAITING:
                    dropped = next((each for each in self.waiting if not each.keeps), self.waiting[0])
                    self.waiting.remove(dropped)
                self.waiting.append(item)
                self._changed.notify_all()
        if dropped is not None:
            self._drop(dropped, "The client was closed." if self._is_closed else "Too many steps were waiting.")

    def close(self, timeout_s: float) -> bool:
        """Delivers what is left for at most `timeout_s` seconds, and says whether all was delivered."""
        end = time.monotonic() + timeout_s
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
            while (self.waiting or self._is_busy) and time.monotonic() < end:
                self._changed.wait(min(0.05, max(0.001, end - time.monotonic())))
            is_done = not self.waiting and not self._is_busy
            self._is_closed = True
            left = list(self.waiting)
            self.waiting.clear()
            self._changed.notify_all()
        for item in left:
            self._drop(item, "The client was closed.")
        return is_done

    def report(self, error: PlumblineError, lost: int) -> None:
        """Tells whoever listens; else says once on standard error that key or address are wrong."""
        try:
            if self._on_error is not None:
                self._on_error(error, lost)
            elif _works_never(error) and not self._has_said:
                self._has_said = True
                print(f"plumbline: {self._base} took no step: {error}", file=sys.stderr)
        except Exception:
            pass  # What is told of an error must not break the agent.

    def _drop(self, item: Item, detail: str) -> None:
        item.stats.dropped += 1
        self._end(item, None)
        self.report(PlumblineError(0, "dropped", detail), 1)

    def _deliver(self) -> None:
        """Delivers one item after the other, each until there is an answer, so that none overtakes another."""
        while True:
            with self._changed:
                while not self.waiting:
                    self._is_busy = False
                    self._changed.notify_all()
                    if self._is_closed:
                        return
                    self._changed.wait()
                item = self.waiting.popleft()
                self._is_busy = True
            self._end(item, self._bring(item))

    def _bring(self, item: Item) -> Optional[Verdict]:
        pause = FIRST_PAUSE_S
        while True:
            try:
                answer = ask(self._base, self._key, "POST", item.path, item.body)
                if not isinstance(answer, dict):
                    raise PlumblineError(0, "no_answer", "The answer is none of the service.")
                item.done(answer)
                item.stats.sent += 1
                self.is_away = False
                return answer
            except PlumblineError as error:
                if error.status not in PASSING or _works_never(error) or self._is_closed:
                    self._fail(item, error)
                    return None
                self.report(error, 0)
                self._pause(max(pause, min(error.retry_after_s, LONGEST_PAUSE_S)))
                pause = min(pause * 2, LONGEST_PAUSE_S)
            except Exception as error:  # A fault of this client must not end the delivery.
                self._fail(item, PlumblineError(0, "unreadable", repr(error)))
                return None

    def _fail(self, item: Item, error: PlumblineError) -> None:
        item.stats.failed += 1
        self.report(error, 1)

    def _end(self, item: Item, answer: Optional[Verdict]) -> None:
        item.stats.waiting -= 1
        # A caller may have given up waiting.
        if item.answer.set_running_or_notify_cancel():
            item.answer.set_result(answer)

    def _pause(self, seconds: float) -> None:
        """Waits between two tries. A client that closes cuts it short, for its caller waits."""
        with self._changed:
            if self._is_closing:
                self._changed.wait_for(lambda: self._is_closed, min(seconds, CLOSING_PAUSE_S))
            else:
                self._changed.wait_for(lambda: self._is_closing, seconds)
