"""Every reply of an endpoint, kept in a file as soon as it is there: what was paid for is never asked twice."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from horizon_bench.policies.endpoint.answers import Answer

_FIELDS = tuple(field.name for field in fields(Answer))


def request_key(url: str, body: dict[str, Any], seed: int) -> str:
    """Return the name of a request: equal for equal requests, whatever the process.

    Args:
        url: address of the endpoint.
        body: the request's body.
        seed: the request's own seed, whether it is sent or not: attempts at one board are different requests.
    """
    text = json.dumps([url, body, seed], sort_keys=True, ensure_ascii=False)
    return sha256(text.encode("utf8", "surrogatepass")).hexdigest()[:32]


class Journal:
    """Answers by the key of their request, on disk if there is a path: one JSON line each, appended."""

    def __init__(self, path: Path | None) -> None:
        """Read what is there; a last line that was cut off by a kill is left out.

        Raises:
            ValueError: if the file is something else.
        """
        self.path = path
        self._answers: dict[str, Answer] = {}
        self._torn = False
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        content = path.read_bytes()
        lines = content.split(b"\n")
        self._torn = bool(lines[-1])
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                self._answers.setdefault(str(row["key"]), Answer(**{name: row[name] for name in _FIELDS}))
            except (ValueError, KeyError, TypeError) as error:
                if number == len(lines) or _looks_torn(line):
                    continue
                raise ValueError(
                    f"{path}, line {number}: no reply of an endpoint; name another file or move this one away"
                ) from error

    def __len__(self) -> int:
        """Return the number of kept answers."""
        return len(self._answers)

    def get(self, key: str) -> Answer | None:
        """Return the kept answer to a request, None if there is none."""
        return self._answers.get(key)

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; it is in the file when this returns."""
        self._answers[key] = answer
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, **asdict(answer)}, ensure_ascii=True)
        with self.path.open("ab") as file:
            file.write((("\n" if self._torn else "") + line + "\n").encode())
        self._torn = False


def _looks_torn(line: bytes) -> bool:
    """Return whether a line is the beginning of one of ours: a kill cut it off, and a later run went on below it."""
    return line.startswith(b'{"key": "') and not line.endswith(b"}")
