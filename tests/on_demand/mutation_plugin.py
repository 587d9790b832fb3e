"""The part of mutation testing that runs inside pytest: `tests/on_demand/mutation_check.py` starts it.

mutmut writes the variants of a file's functions. Its own runner starts pytest once for each variant, which here costs
ten times what the tests cost; this one collects the tests once and forks for each variant.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.state import state

SWITCH = "MUTANT_UNDER_TEST"
"""Environment variable by which mutmut's code chooses the variant."""
SPARE_SECONDS = 2.0
"""Processor time a variant may take beyond several times what the tests need without a change."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutate", help="file whose functions are changed")
    parser.addoption("--found", help="file of what was found, read and written")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--mutate"):
        changed = Changed(Path(config.getoption("--mutate")))
        sys.meta_path.insert(0, changed)
        config.pluginmanager.register(Trials(changed, Path(config.getoption("--found"))), "trials")


class Changed(importlib.abc.MetaPathFinder):
    """Imports one module with all variants of its functions in it."""

    def __init__(self, path: Path) -> None:
        self.module = str(path.with_suffix("")).replace("/", ".").removesuffix(".__init__")
        self.path = path.resolve()
        self.file = mutate_file_contents(str(path), path.read_text(encoding="utf8"))

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.module:
            return None
        loader = _Loader(name, str(self.path))
        loader.code = self.file.code
        return importlib.util.spec_from_file_location(name, self.path, loader=loader)

    def difference(self, variant: str) -> list[str]:
        """Return the changed lines of a variant, `-` before and `+` after."""
        lines = self.file.code.split("\n")
        function = variant.rpartition("__mutmut_")[0]
        spans = (self.file.line_span_by_function_name[name] for name in (f"{function}__mutmut_orig", variant))
        before, after = (lines[span.start - 1 : span.end] for span in spans)
        if len(before) != len(after):
            return [f"{len(before)} lines became {len(after)}"]
        names = (f"{function}__mutmut_orig", variant)
        pairs = [
            tuple(line.replace(name, function).strip() for line, name in zip(both, names, strict=True))
            for both in zip(before, after, strict=True)
        ]
        return [text for old, new in pairs if old != new for text in (f"- {old}", f"+ {new}")]


class _Loader(importlib.machinery.SourceFileLoader):
    code = ""

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.code, self.path, "exec", dont_inherit=True)


class Trials:
    """Runs the tests once as they are, then for each variant those that reach its function until one fails."""

    def __init__(self, changed: Changed, found: Path) -> None:
        self.changed, self.path = changed, found
        self.found: dict[str, str] = json.loads(found.read_text(encoding="utf8")) if found.exists() else {}
        self.seconds: dict[pytest.Item, float] = {}
        self.reach: dict[str, list[pytest.Item]] = defaultdict(list)
        self.killers: dict[str, list[pytest.Item]] = defaultdict(list)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.rehearse(session)
        if session.testsfailed:
            raise pytest.UsageError("the tests fail without any change")
        variants = [name for name in self.changed.file.mutant_names if not self.found.get(name)]
        for index, variant in enumerate(variants):
            self.found[variant] = self.try_out(session, variant)
            if index % 20 == 0:
                self.save()
        self.save()
        return True

    def save(self) -> None:
        self.path.write_text(json.dumps({name: self.found.get(name, "") for name in self.changed.file.mutant_names}))

    def rehearse(self, session: pytest.Session) -> None:
        """Run every test without a change; note its time and the functions that it reaches."""
        os.environ[SWITCH] = "stats"
        for item in session.items:
            state()._stats.clear()
            start = time.process_time()
            self.run(session, item)
            self.seconds[item] = time.process_time() - start
            for function in state()._stats:
                self.reach[function].append(item)
        os.environ[SWITCH] = ""

    def run(self, session: pytest.Session, item: pytest.Item) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def try_out(self, session: pytest.Session, variant: str) -> str:
        """Return the test that failed with a variant, `time` where one ran without end, nothing where none noticed."""
        function = f"{self.changed.module}.{variant.rpartition('__mutmut_')[0]}"
        killers = self.killers[function]
        others = sorted(set(self.reach[function]) - set(killers), key=lambda item: self.seconds[item])
        order = [*killers, *others]
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self.perform(session, variant, order, writer)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            answer = pipe.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return "time" if os.WTERMSIG(status) == signal.SIGPROF else f"signal {os.WTERMSIG(status)}"
        if not answer:
            return ""
        killer = order[int(answer)]
        self.killers[function] = [killer, *(item for item in killers if item is not killer)]
        return killer.nodeid

    def perform(self, session: pytest.Session, variant: str, order: list[pytest.Item], writer: int) -> None:
        """Run tests in a process of their own until one fails, whose place in the order is written back."""
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.environ[SWITCH] = f"{self.changed.module}.{variant}"
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, SPARE_SECONDS + 5 * sum(self.seconds[item] for item in order))
        try:
            for index, item in enumerate(order):
                self.run(session, item)
                if session.testsfailed or session.shouldstop or session.shouldfail:
                    os.write(writer, str(index).encode())
                    break
        finally:
            os._exit(0)
