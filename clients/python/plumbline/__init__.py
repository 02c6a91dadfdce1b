"""The client of Plumbline: is an agent still on its errand? Standard library only.

>>> from plumbline import Client
>>> client = Client("http://127.0.0.1:8787", key="pl_live_…")
>>> run = client.run(ground="add rate limiting to the login endpoint")
>>> verdict = run.step("limit logins by address")
>>> if verdict and verdict["drifting"]: print(verdict["why"])
"""

from ._ask import PlumblineError
from ._asyncio import AsyncClient, AsyncRun
from ._client import Client, Run
from ._delivery import Stats

__all__ = ["AsyncClient", "AsyncRun", "Client", "PlumblineError", "Run", "Stats"]
