"""How an endpoint is asked: where, how fast, how patiently, at what price. Never holds a key."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from horizon_bench.checks import check_least, check_positive

_NAME = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)", re.IGNORECASE | re.DOTALL)
_FORM = "openai:MODEL@BASE_URL, such as openai:qwen3@http://localhost:8000/v1"


@dataclass(frozen=True)
class EndpointSettings:
    """Every choice about an OpenAI-compatible endpoint."""

    model: str
    """Name of the model, as the endpoint knows it."""
    base_url: str
    """Address up to `/v1`; requests go to `/chat/completions` below it."""
    key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the key, read at each round of requests; "" sends none."""
    concurrency: int = 16
    """Requests under way at a time."""
    requests_per_minute: float = 0.0
    """Requests begun in a minute, retries included; 0 for no limit."""
    timeout_seconds: float = 600.0
    """Longest time for one request, from connecting to the last byte."""
    retries: int = 8
    """Further tries after a fault that may pass."""
    first_wait_seconds: float = 1.0
    """Wait before the first retry; it doubles each time, varied by up to a half, unless the endpoint names a time."""
    longest_wait_seconds: float = 60.0
    """Longest wait of our own; an endpoint's `Retry-After` may be longer."""
    longest_pause_seconds: float = 900.0
    """Longest `Retry-After` that is waited for; beyond it the round ends, to be resumed later."""
    prompt_price: float = 0.0
    """Price of a million tokens of prompts."""
    reply_price: float = 0.0
    """Price of a million tokens of replies."""
    most_cost: float = 0.0
    """No request begins once this much is spent; 0 for no limit."""
    journal: Path | None = None
    """File that keeps every reply; what it holds is not asked again."""
    cap_field: str = "max_tokens"
    """Field for the cap of a reply; some endpoints want `max_completion_tokens`."""
    send_seed: bool = True
    """Whether requests carry a seed, from the episode's own generator."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request's body."""

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            ValueError: naming the field, its value and the rule.
        """
        object.__setattr__(self, "base_url", _checked_url(self.base_url))
        if not self.model.strip():
            raise ValueError(f"the endpoint's model is missing; write {_FORM}")
        check_least(self, 1, "concurrency")
        check_least(self, 0, "retries")
        check_positive(self, "timeout_seconds", "first_wait_seconds", "longest_wait_seconds", "longest_pause_seconds")
        for name in ("requests_per_minute", "prompt_price", "reply_price", "most_cost"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ValueError(f"{name} must be a number of at least 0, not {getattr(self, name)}")
        if self.most_cost and not (self.prompt_price or self.reply_price):
            raise ValueError(f"most_cost is {self.most_cost}, but prices are 0; give prompt_price and reply_price")

    @classmethod
    def from_name(cls, name: str, **options: Any) -> EndpointSettings:
        """Return the settings of `MODEL@BASE_URL`.

        Args:
            name: model and address.
            options: other fields.

        Raises:
            ValueError: if the name has another form, or an option is unknown or out of range.
        """
        match = _NAME.fullmatch(name.strip())
        if match is None:
            raise ValueError(f"endpoint {_without_secrets(name)!r} should read {_FORM}")
        known = [each.name for each in fields(cls)]
        for option in options:
            if option not in known:
                raise ValueError(f"an endpoint has no option {option!r}; known: {', '.join(known)}")
        return cls(model=match["model"], base_url=match["url"], **options)

    @property
    def name(self) -> str:
        """Name of the policy."""
        return f"openai:{self.model}@{self.base_url}"

    def cost(self, prompt_tokens: int, reply_tokens: int) -> float:
        """Return what so many tokens cost."""
        return (prompt_tokens * self.prompt_price + reply_tokens * self.reply_price) / 1e6

    def allows_key(self) -> bool:
        """Return whether a key may travel there: encrypted, or to this machine."""
        return urlsplit(self.base_url).scheme == "https" or self.is_plain_loopback()

    def is_plain_loopback(self) -> bool:
        """Return whether requests go unencrypted to this machine, and so past any proxy."""
        parts = urlsplit(self.base_url)
        return parts.scheme == "http" and _is_loopback(parts.hostname or "")


def _checked_url(url: str) -> str:
    """Return the base address without trailing slash.

    Raises:
        ValueError: if it is no http address, or carries credentials, which would end up in records.
    """
    shown = _without_secrets(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"endpoint address {shown!r} is no http address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or re.search(r"\s", url):
        raise ValueError(f"endpoint address {shown!r} is no http address; write {_FORM}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            f"endpoint address {shown!r} carries more than a path; a key belongs into an environment variable "
            "(OPENAI_API_KEY, or the one that key_variable names)"
        )
    return url.rstrip("/").removesuffix("/chat/completions").rstrip("/")


def _without_secrets(url: str) -> str:
    """Return an address as messages may show it: no user, password, query."""
    return re.sub(r"//[^/@]*@", "//", re.sub(r"[?#].*", "", url, flags=re.DOTALL))


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
