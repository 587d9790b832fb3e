"""Asks an endpoint many things at a time, patiently: back-off, `Retry-After`, rate limit, deadlines, nothing lost."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from horizon_bench.extras import install
from horizon_bench.policies.endpoint.answers import Answer, RequestError, read_answer, status_fault
from horizon_bench.policies.endpoint.journal import Journal, request_key
from horizon_bench.policies.endpoint.settings import EndpointSettings
from horizon_bench.policies.endpoint.usage import Usage

LARGEST_BODY = 32 * 2**20
"""Bytes of a response that are read."""

SHORTEST_SECRET = 8
"""Characters of a key from which on it is taken out of replies; placeholders such as `1` stand in honest replies."""


class EndpointError(ConnectionError):
    """An endpoint that gave no reply; the message says what is kept and how to go on."""


@dataclass(frozen=True)
class Request:
    """One thing to ask."""

    body: dict[str, Any]
    """Fields of the request, the seed left out."""
    seed: int
    """Tells attempts apart; sent where the settings say so."""
    stop: tuple[str, ...] = ()


class EndpointClient:
    """One endpoint with its journal and its counts."""

    def __init__(self, settings: EndpointSettings) -> None:
        """Prepare; nothing is sent yet.

        Raises:
            ValueError: if the package that speaks HTTP is missing.
        """
        try:
            import httpx2  # noqa: F401
        except ImportError as error:
            raise ValueError(f"endpoints need the package httpx2: {install('endpoint')}") from error
        self.settings = settings
        self.journal = Journal(settings.journal)
        self.usage = Usage()
        self._pace = _Pace(settings)

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        """Return the answer to each request; those in the journal are not asked.

        Raises:
            EndpointError: if a request failed for good; answers that came are in the journal.
        """
        keys = [request_key(self.settings.base_url, request.body, request.seed) for request in requests]
        found = {key: answer for key in keys if (answer := self.journal.get(key)) is not None}
        for answer in found.values():
            self.usage.count(answer, kept=True)
        missing = {key: request for key, request in zip(keys, requests, strict=True) if key not in found}
        if missing:
            found |= _run(_Round(self, missing).run())
        return [found[key] for key in keys]

    def key(self) -> str:
        """Return the endpoint's key, read from the environment each time so that no object ever holds it.

        Raises:
            ValueError: if it would travel unencrypted, or cannot stand in a header.
        """
        name = self.settings.key_variable
        key = os.environ.get(name, "").strip() if name else ""
        if key and not self.settings.allows_key():
            raise ValueError(
                f"the key in {name} would travel unencrypted to {self.settings.base_url}; use https, or send no key: "
                "key_variable=''"
            )
        if not (key.isascii() and (key.isprintable() or not key)):
            raise ValueError(f"the key in {name} holds characters that no key has")
        return key


def _run(work: Coroutine[Any, Any, dict[str, Answer]]) -> dict[str, Answer]:
    """Run a coroutine to its end, beside an event loop if one is running here (as in notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


class _Pace:
    """When the next request may begin: rate limit, and pauses that the endpoint asks of everybody."""

    def __init__(self, settings: EndpointSettings) -> None:
        rate = settings.requests_per_minute
        self._spacing = 60.0 / rate if rate else 0.0
        self._next = self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def wait(self) -> float:
        """Return the seconds to wait; 0 takes the turn."""
        now = time.monotonic()
        wait = max(self._next, self._paused_until) - now
        if wait > 0.0:
            return wait
        self._next = max(now, self._next) + self._spacing
        return 0.0


class _Round:
    """The requests of one call."""

    def __init__(self, client: EndpointClient, missing: dict[str, Request]) -> None:
        self.client, self.missing, self.settings = client, missing, client.settings
        self.key = client.key()
        self.found: dict[str, Answer] = {}
        self.over = asyncio.Event()
        self.places = asyncio.Semaphore(self.settings.concurrency)

    async def run(self) -> dict[str, Answer]:
        """Return all answers by key, or raise when all that were under way have come to an end."""
        import httpx2

        limits = httpx2.Limits(max_connections=self.settings.concurrency)
        timeout = httpx2.Timeout(None, connect=min(60.0, self.settings.timeout_seconds))
        environment = not self.settings.is_plain_loopback()  # a proxy named there would read the key
        async with httpx2.AsyncClient(limits=limits, timeout=timeout, trust_env=environment) as http:
            tasks = [asyncio.create_task(self._settle(http, key, each)) for key, each in self.missing.items()]
            ends = await asyncio.gather(*tasks)
        faults = [fault for fault in ends if fault is not None]
        if faults:
            raise EndpointError(self._explain(faults[0]))
        return self.found

    async def _settle(self, http: Any, key: str, request: Request) -> RequestError | None:
        """Get one answer into the journal; returns the fault that ended the round, if it was this one."""
        for trial in range(self.settings.retries + 1):
            try:
                async with self.places:
                    if not await self._turn():
                        return None
                    answer = await self._send(http, request)
            except RequestError as fault:
                self.client.usage.faults[fault.kind] += 1
                if not await self._patient(fault, key, trial):
                    self.over.set()
                    return fault
                continue
            self.client.journal.put(key, answer)
            self.client.usage.count(answer, kept=False)
            self.found[key] = answer
            return None
        return None

    async def _turn(self) -> bool:
        """Wait until a request may begin; false if the round has ended meanwhile."""
        while not self.over.is_set():
            limit = self.settings.most_cost
            if limit and self.client.usage.cost(self.settings) >= limit:
                raise RequestError("cost limit", f"{limit} is spent", passing=False)
            wait = self.client._pace.wait()
            if not wait:
                return True
            await self._rest(wait)
        return False

    async def _patient(self, fault: RequestError, key: str, trial: int) -> bool:
        """Wait before the next try; false if there is none to come."""
        longest = self.settings.longest_pause_seconds
        if not fault.passing or trial == self.settings.retries or (fault.wait or 0.0) > longest:
            return False
        if fault.wait is not None:
            self.client._pace.pause(fault.wait)  # our own back-off runs at the same time: the wait may be 0
        usual = min(self.settings.first_wait_seconds * 2.0**trial, self.settings.longest_wait_seconds)
        await self._rest(usual * (0.5 + int(key[trial % 16 : trial % 16 + 8], 16) / 2**32))
        return True

    async def _rest(self, seconds: float) -> None:
        """Wait, but not beyond the end of the round."""
        try:
            await asyncio.wait_for(self.over.wait(), seconds)
        except TimeoutError:
            return

    async def _send(self, http: Any, request: Request) -> Answer:
        """Return the answer to one request.

        Raises:
            RequestError: for whatever else comes back, the key removed from its words.
        """
        import httpx2

        try:
            async with asyncio.timeout(self.settings.timeout_seconds):
                status, headers, body = await self._exchange(http, request)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise RequestError("time-out", f"no whole reply in {self.settings.timeout_seconds:g} s") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise RequestError("address", self._scrubbed(str(error)), passing=False) from error
        except (httpx2.HTTPError, OSError) as error:
            raise RequestError("connection", self._scrubbed(str(error) or type(error).__name__)) from error
        if status != 200:
            raise status_fault(status, headers, body, self._scrubbed)
        return read_answer(body, request.stop, self._scrubbed)

    async def _exchange(self, http: Any, request: Request) -> tuple[int, Any, bytes]:
        """Return status, headers and body of one exchange."""
        body = {**request.body, **({"seed": request.seed} if self.settings.send_seed else {})}
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        content = json.dumps(body, ensure_ascii=True).encode()
        url = f"{self.settings.base_url}/chat/completions"
        parts: list[bytes] = []
        async with http.stream("POST", url, content=content, headers=headers) as response:
            async for part in response.aiter_bytes():
                parts.append(part)
                if sum(map(len, parts)) > LARGEST_BODY:
                    raise RequestError("unreadable reply", f"more than {LARGEST_BODY} bytes", passing=False)
        return response.status_code, response.headers, b"".join(parts)

    def _scrubbed(self, text: str) -> str:
        """Return the text without the key, in case an endpoint repeats it, as it is or as JSON may spell it."""
        if len(self.key) < SHORTEST_SECRET:
            return text
        spelled = json.dumps(self.key)[1:-1]
        for form in (self.key, spelled, spelled.replace("/", "\\/")):
            text = text.replace(form, "[key]")
        return text

    def _explain(self, fault: RequestError) -> str:
        """Return what happened, what is kept and how to go on."""
        settings, lacking = self.settings, len(self.missing) - len(self.found)
        kept = f"all {len(self.client.journal)} replies so far are kept in {settings.journal}; the same call goes on"
        lost = "replies of this call are not kept: name a journal to be able to go on"
        tried = f" after {settings.retries + 1} tries" if fault.passing and settings.retries else ""
        wait = f", which asks to wait {fault.wait:.0f} s" if fault.wait else ""
        return (
            f"{settings.name} gave no reply to {lacking} of {len(self.missing)} requests: {fault}{wait}{tried}; "
            f"{kept if settings.journal else lost}"
        )
