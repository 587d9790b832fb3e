"""Small stand-ins of the packages that adapters are written for: just the parts of their interfaces that are used.

The same adapters are held to the real packages by `tox -e openenv` and `tox -e verifiers`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Generic, TypeVar

T = TypeVar("T")
C = TypeVar("C")


class Model:
    """Takes what it declares by name, refuses the rest, fills in defaults: what is used of pydantic."""

    def __init__(self, **values: Any) -> None:
        declared = {name: kind for one in reversed(type(self).__mro__) for name, kind in vars(one).items()}
        names = {name for one in type(self).__mro__ for name in vars(one).get("__annotations__", {})}
        if unknown := values.keys() - names:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        for name in names:
            if name not in values and name not in declared:
                raise TypeError(f"{type(self).__name__} needs {name}")
            setattr(self, name, values.get(name, declared.get(name)))


@contextmanager
def loaded(adapter: str, modules: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Any]:
    """Import an adapter afresh among stand-ins; a module that is None is missing. All is as before afterwards."""
    roots = {name.partition(".")[0] for name in modules}
    kept = {name: one for name, one in sys.modules.items() if name.partition(".")[0] in roots or name == adapter}
    for name in kept:
        del sys.modules[name]
    try:
        for name, content in modules.items():
            sys.modules[name] = None if content is None else ModuleType(name)  # type: ignore[assignment]
            if content is not None:
                vars(sys.modules[name]).update(content, __path__=[])
        yield importlib.import_module(adapter)
    finally:
        for name in [*modules, adapter]:
            sys.modules.pop(name, None)
        sys.modules.update(kept)


# ---------------------------------------------------------------- openenv


class Action(Model):
    pass


class Observation(Model):
    done: bool = False
    reward: float | None = None


class State(Model):
    episode_id: str | None = None
    step_count: int = 0


class Environment:
    SUPPORTS_CONCURRENT_SESSIONS = False

    def __init__(self) -> None:
        self.transform = None


class App:
    """What `create_fastapi_app` was given."""

    def __init__(self, make: Any, action: type[Action], observation: type[Observation]) -> None:
        self.make, self.action, self.observation = make, action, observation


SERVER = "openenv.core.env_server"
OPENENV: dict[str, dict[str, Any]] = {
    "openenv": {},
    "openenv.core": {},
    SERVER: {},
    f"{SERVER}.http_server": {"create_fastapi_app": App},
    f"{SERVER}.interfaces": {"Environment": Environment},
    f"{SERVER}.types": {"Action": Action, "Observation": Observation, "State": State},
}

# ---------------------------------------------------------------- verifiers


class AgentConfig(Model):
    harness: dict[str, str]


class TaskData(Model):
    id: str


class Task(Generic[T]):
    def __init__(self, data: T, config: Any) -> None:
        self.data, self.config = data, config


class TasksetConfig(Model):
    task: str = "task"


class Taskset(Generic[T, C]):
    def __init__(self, config: C) -> None:
        self.config = config


class EnvConfig(Model):
    pass


class Env(Generic[C]):
    def __init__(self, config: C) -> None:
        self.config = config


V1 = {one.__name__: one for one in (AgentConfig, TaskData, Task, TasksetConfig, Taskset, EnvConfig, Env)}
VERIFIERS: dict[str, dict[str, Any]] = {"verifiers": {}, "verifiers.v1": V1}
