"""One request to the service, and what is raised where it fails."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Optional

#: Seconds of one request.
REQUEST_S = 10.0


class PlumblineError(Exception):
    """A refusal of the service, or no answer: `status` is 0 then. `word` is stable, such as `no_run`."""

    def __init__(self, status: int, word: str, detail: str, retry_after_s: float = 0.0):
        super().__init__(f"{word}: {detail}" if detail else word)
        self.status, self.word, self.detail, self.retry_after_s = status, word, detail, retry_after_s


def ask(
    base: str,
    key: Optional[str],
    method: str,
    path: str,
    body: Optional[Dict[str, Any]] = None,
    query: Optional[Dict[str, Any]] = None,
) -> Any:
    """Asks a route once. Raises `PlumblineError` if it is refused, or does not answer as the service does."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    address = base + path + (f"?{urllib.parse.urlencode(given)}" if given else "")
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    if urllib.parse.urlsplit(base).scheme not in ("http", "https"):
        raise PlumblineError(0, "bad_address", "It does not begin with http:// or https://.")
    try:
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=REQUEST_S) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        fields = _fields_in(error)
        pause = error.headers.get("retry-after") or "0"
        raise PlumblineError(
            error.code,
            str(fields.get("error") or "unreadable"),
            str(fields.get("detail") or ""),
            float(pause) if pause.isdigit() else 0.0,
        ) from None
    # An answer that breaks off is none of the first kind, and text that is no JSON none of the first two.
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise PlumblineError(0, "no_answer", str(error) or type(error).__name__) from error


def _fields_in(error: urllib.error.HTTPError) -> Dict[str, Any]:
    try:
        with error:
            told = json.loads(error.read(64 * 1024))
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
