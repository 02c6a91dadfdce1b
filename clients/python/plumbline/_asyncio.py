"""The same for asyncio: the same delivery in the background, and nothing blocks the loop."""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import Future
from typing import Any, Callable, Dict, Optional, Sequence

from ._client import BUDGET_S, Client, Run
from ._delivery import OnError, Stats, Verdict


class AsyncClient:
    """As `Client`, for asyncio."""

    def __init__(self, base_url: str, key: Optional[str] = None, on_error: Optional[OnError] = None):
        self._client = Client(base_url, key, on_error)

    def run(
        self,
        ground: Optional[str] = None,
        run_id: Optional[str] = None,
        plan: Optional[Sequence[str]] = None,
        detector: Optional[str] = None,
        budget_s: float = BUDGET_S,
    ) -> "AsyncRun":
        """A handle on one run: `ground` is the errand in the user's own words."""
        return AsyncRun(self._client.run(ground, run_id, plan, detector, budget_s))

    async def check(self, ground: str, goal: str, **more: Any) -> Verdict:
        """As `Client.check`."""
        verdict: Verdict = await _apart(self._client.check, ground, goal, **more)
        return verdict

    async def request(
        self,
        method: str,
        path: str,
        body: Optional[Dict[str, Any]] = None,
        query: Optional[Dict[str, Any]] = None,
    ) -> Any:
        """As `Client.request`."""
        return await _apart(self._client.request, method, path, body, query)

    async def close(self, timeout_s: float = 5.0) -> bool:
        """As `Client.close`."""
        is_done: bool = await _apart(self._client.close, timeout_s)
        return is_done

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncRun:
    """As `Run`, for asyncio. Steps are delivered in the order in which their calls began to be awaited."""

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

    async def step(
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
        """As `Run.step`."""
        return await self._wait(
            self._run._begin_step(
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

    async def user_message(self, text: str, *, goal: Optional[str] = None, **more: Any) -> Optional[Verdict]:
        """As `Run.user_message`."""
        return await self.step(text if goal is None else goal, user_message=text, **more)

    async def outcome(self, outcome: str, *, score: Optional[float] = None, note: Optional[str] = None) -> bool:
        """As `Run.outcome`."""
        return await self._wait(self._run._begin_outcome(outcome, score, note)) is not None

    async def _wait(self, answer: "Future[Optional[Verdict]]") -> Optional[Verdict]:
        loop = asyncio.get_running_loop()
        # A future of its own: whoever stops waiting takes no step back.
        arrived: "asyncio.Future[Optional[Verdict]]" = loop.create_future()

        def settle(verdict: Optional[Verdict]) -> None:
            if not arrived.done():
                arrived.set_result(verdict)

        def tell(answered: "Future[Optional[Verdict]]") -> None:
            try:
                loop.call_soon_threadsafe(settle, answered.result())
            except RuntimeError:
                pass  # The loop has ended, and nobody waits.

        answer.add_done_callback(tell)
        try:
            return await asyncio.wait_for(arrived, self._run._patience_s())
        except asyncio.TimeoutError:
            self._run._is_late()
            return None


async def _apart(work: Callable[..., Any], *given: Any, **more: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(work, *given, **more))
