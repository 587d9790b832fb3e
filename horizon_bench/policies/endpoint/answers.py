"""What an endpoint sends back: a reply with its counts, or a fault with what is known of it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from horizon_bench.policies.chat import before_stop, joined_thought

PASSING = frozenset({408, 409, 425, 429})
"""Statuses under 500 that may pass; all from 500 on may."""

LONGEST_MESSAGE = 300
"""Characters of an endpoint's own words that messages repeat."""


@dataclass(frozen=True)
class Answer:
    """A reply, as it is kept in the journal."""

    text: str
    """Thought and text, as the environment reads them."""
    capped: bool
    """The cap came before the reply's end."""
    prompt_tokens: int
    """As counted by the endpoint."""
    reply_tokens: int
    """As counted by the endpoint, thought included; words of the text where it counts none."""
    counted: bool
    """The endpoint counted the tokens."""
    model: str = ""
    """Model that answered, in the endpoint's words."""


class RequestError(Exception):
    """A request that brought no reply."""

    def __init__(self, kind: str, message: str = "", *, passing: bool = True, wait: float | None = None) -> None:
        """Remember what happened.

        Args:
            kind: a few words to count by, such as `status 500` or `time-out`.
            message: the endpoint's own words, without any key.
            passing: whether another try may help.
            wait: seconds after which the endpoint wants to be asked again, if it says so.
        """
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind, self.passing, self.wait = kind, passing, wait


def status_fault(status: int, headers: Any, body: bytes, clean: Callable[[str], str] = str) -> RequestError:
    """Return the fault that a status other than 200 stands for.

    Args:
        status: of the response.
        headers: of the response.
        body: of the response.
        clean: takes secrets out of the endpoint's own words.
    """
    passing = status in PASSING or status >= 500
    return RequestError(f"status {status}", _message(body, clean), passing=passing, wait=retry_after(headers))


def retry_after(headers: Any, now: float | None = None) -> float | None:
    """Return the seconds that the endpoint asks to wait, None if it does not say.

    Args:
        headers: of the response; `Retry-After` holds seconds or a date, `retry-after-ms` milliseconds.
        now: seconds since the epoch; the clock's by default.
    """
    exact = _number(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000.0
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0.0 else None


def read_answer(body: bytes, stop: tuple[str, ...] = (), clean: Callable[[str], str] = str) -> Answer:
    """Return the reply that a response holds.

    Args:
        body: of a response with status 200.
        stop: strings before which the reply ends, for endpoints that do not look at them.
        clean: takes secrets out of the endpoint's own words.

    Raises:
        RequestError: if the body is cut off, no JSON, or holds no reply.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError("unreadable reply", f"{error}") from error
    if not isinstance(content, dict):
        raise RequestError("unreadable reply", f"a JSON {type(content).__name__} where an object belongs")
    if content.get("error"):
        raise RequestError("error in the reply", _message(body, clean))
    try:
        choice = content["choices"][0]
        message = choice["message"]
        written = _text(message.get("content"))
        thought = _text(message.get("reasoning_content") or message.get("reasoning"))
        reason = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise RequestError("unreadable reply", f"no choices[0].message in it ({type(error).__name__})") from error
    text = before_stop(written, stop)
    capped = reason == "length" and text == written
    whole = joined_thought(thought, text, closed=bool(text) or not capped)
    usage = content.get("usage") if isinstance(content.get("usage"), dict) else {}
    prompt_tokens, reply_tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    counted = prompt_tokens is not None and reply_tokens is not None
    words = len(whole.split())
    return Answer(clean(whole), capped, prompt_tokens or 0, words if reply_tokens is None else reply_tokens, counted,
                  clean(str(content.get("model") or "")))  # fmt: skip


def _text(content: Any) -> str:
    """Return the text of a message's content, which may be missing or come in parts.

    Half a character, as JSON's escapes can spell it, becomes U+FFFD: no file or later request could hold it.
    """
    if content is None:
        return ""
    text = content if isinstance(content, str) else "".join(str(part.get("text") or "") for part in content)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _message(body: bytes, clean: Callable[[str], str]) -> str:
    """Return the endpoint's own words about an error, in one short line."""
    text = body.decode("utf8", "replace")
    try:
        error = json.loads(body)["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return " ".join(clean(text).split())[:LONGEST_MESSAGE]
