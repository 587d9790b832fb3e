"""One running copy of ScienceWorld: a Java virtual machine with the package's simulator, and the words with it.

The machine starts with the first task and dies with its parent process, however that ends: it reads from a pipe whose
other end only the parent holds. Two things make it repeat itself, which the package alone does not: its random numbers
are seeded by the task, and its objects hash by their number (see `class_files`).
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from horizon_bench.outside.class_files import add_hash_code
from horizon_bench.outside.commands import tidy
from horizon_bench.outside.extras import need
from horizon_bench.outside.scienceworld_bank import Measured
from horizon_bench.outside.simulators import View

JAVA = "apt-get install default-jre-headless"
"""Command that installs a Java runtime on Debian and its relatives."""
JAVA_OPTIONS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""One small machine: half a gigabyte for its objects, no threads besides the one that plays."""
UNKNOWN = "No known action matches that input."
_AMBIGUOUS = "Ambiguous request"
_SUBGOAL = re.compile(r"^\d+\t(true|false)\t\s*(\w+)\t(.*)$", re.MULTILINE)
_WORD = re.compile(r"[A-Z][a-z]*")
_ENTITY = "scienceworld/struct/EnvObject.class"
_SINGLETON = re.compile(r"scienceworld/[a-z/]+/\w+\$\.class")
_SCRAMBLER = 0x5DEECE66D
_FULL_SCORE = 0.999
_LONGEST_COMPLAINT = 300


@dataclass(eq=False)
class ScienceWorldSimulator:
    """A Java virtual machine that plays one task at a time."""

    patience: float = 900.0
    """Seconds that one call may take before the machine counts as hanging."""
    process: Any = None
    _gateway: Any = None
    _server: Any = None
    _join: Any = None
    _machine: Any = None
    _options: int = 0
    """Numbered choices of the question that the world has asked; 0 if it has asked none."""

    def reset(self, task: str) -> View:
        """Begin a task anew."""
        self._load(task, gold=False)
        # Until the first command, score and completion are still those of the task before.
        return replace(self._view(""), won=False, lost=False, score=0.0)

    def step(self, command: str) -> View:
        """Carry out one command; `choose 1` answers a question of the world."""
        told, refused = self._carry_out(command)
        return View("", refused=refused) if refused else self._view(told)

    def commands(self) -> tuple[str, ...]:
        """Return the commands that are possible now, thousands in a room full of things."""
        if self._options:
            return (*(f"choose {number}" for number in range(self._options)), "choose none")
        with self._same_chances():
            return tuple(sorted(self._listed(self._server.getValidActionObjectCombinations())))

    def measure(self, task: str) -> Measured:
        """Return the gold commands of a task, played up to the goal; the task has to be begun anew afterwards."""
        self._load(task, gold=True)
        gold = list(map(_spelled, self._listed(self._server.getGoldActionSequence())))
        self._load(task, gold=False)
        played = list[str]()
        for command in gold:
            if self._carry_out(command)[1]:
                continue
            played.append(command)
            if self._server.getCompleted():
                break
        problem = ""
        if not self._won():
            score = round(100 * float(self._server.getScore()))
            problem = f"score {score} after {len(played)} of {len(gold)} commands"
        return Measured(tuple(played), tuple(name for _, name in self._progress()), 0.0, problem)

    def splits(self, task: str) -> dict[str, tuple[int, int]]:
        """Return the variations of each split of a task, as first and one beyond the last."""
        self._load(f"{task}/0", gold=False)
        found = {}
        for split, numbers in (
            ("train", self._server.getVariationsTrain()),
            ("validation", self._server.getVariationsDev()),
            ("test", self._server.getVariationsTest()),
        ):
            own = sorted(map(int, numbers))
            if own != list(range(own[0], own[-1] + 1)):
                raise ValueError(f"the {split} variations of {task} are not in a row")
            found[split] = (own[0], own[-1] + 1)
        return found

    def close(self) -> None:
        """End the machine."""
        gateway, process = self._gateway, self.process
        self._gateway = self._server = self.process = None
        if gateway is not None:
            with suppress(Exception):
                gateway.close()
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()

    # ---------------------------------------------------------------- the machine

    def _load(self, task: str, gold: bool) -> None:
        """Load a task, with the same chances every time."""
        if self._server is None:
            self._start()
        name, _, number = task.partition("/")
        digest = blake2b(task.encode(), digest_size=7).digest()
        self._identifiers.reset()
        self._random.setSeed(int.from_bytes(digest, "big"))
        self._options = 0
        self._server.load(name, int(number), "", gold)

    def _start(self) -> None:
        """Start the machine.

        Raises:
            ImportError: if the package or Java is missing.
        """
        jar = need("scienceworld.constants", "ScienceWorld").JAR_PATH
        java = need("py4j.java_gateway", "ScienceWorld")
        with TemporaryDirectory(prefix="horizon-bench-") as folder:
            place = Path(folder, _ENTITY)
            place.parent.mkdir(parents=True)
            with zipfile.ZipFile(jar) as archive:
                place.write_bytes(add_hash_code(archive.read(_ENTITY), "uuid"))
                singletons = sorted(name for name in archive.namelist() if _SINGLETON.fullmatch(name))
            port, token = self._launch(java.launch_gateway, jar, Path(folder))
            # Objects of the machine are let go by `_listed`, not when Python forgets them: a forked process forgets
            # those of its parent, and a port that was closed may be another machine's.
            parameters = java.GatewayParameters(
                auto_field=True,
                port=port,
                auth_token=token,
                read_timeout=self.patience,
                enable_memory_management=False,
            )
            self._gateway = java.JavaGateway(gateway_parameters=parameters, java_process=self.process)
            machine = self._machine = self._gateway.jvm
            self._server = machine.scienceworld.runtime.pythonapi.PythonInterface()
            self._join = machine.java.lang.String.join
            find_class = machine.java.lang.Class.forName
            find_class("scienceworld.struct.EnvObject")
        self._random = getattr(getattr(machine.scala.util, "Random$"), "MODULE$")
        self._identifiers = getattr(getattr(machine.util, "UniqueIdentifier$"), "MODULE$")
        # Some of the simulator's singletons draw their content when they are first used: now, and always the same.
        self._random.setSeed(0)
        for name in singletons:
            find_class(name.removesuffix(".class").replace("/", "."))

    def _launch(self, launch: Callable[..., Any], jar: str, folder: Path) -> tuple[int, str]:
        """Start Java, keep its process and return its port, with the token that keeps other users out.

        Args:
            launch: the gateway's way to start it.
            jar: the package's program.
            folder: holds the classes that are loaded in place of the program's own.

        Raises:
            ImportError: if there is no Java that can be run.
            RuntimeError: if it ends at once.
        """
        complaints = folder / "complaints"
        try:
            with complaints.open("wb") as errors:
                port, token, self.process = launch(
                    classpath=os.pathsep.join((str(folder), jar)),
                    javaopts=list(JAVA_OPTIONS),
                    die_on_exit=True,
                    enable_auth=True,
                    cwd=str(Path(jar).parent),
                    return_proc=True,
                    redirect_stderr=errors,
                )
        except OSError as error:
            raise ImportError(f"ScienceWorld needs a Java runtime on the PATH ({error}); run: {JAVA}") from error
        except ValueError as error:
            # In place of its port it has told nothing, or something else.
            told = " ".join(complaints.read_text(errors="replace").split())[-_LONGEST_COMPLAINT:] or str(error)
            raise RuntimeError(f"the Java on the PATH does not start: {told}; try another one: {JAVA}") from error
        return int(port), token.decode()

    # ---------------------------------------------------------------- what it does and tells

    def _carry_out(self, command: str) -> tuple[str, str]:
        """Return the world's answer to a command, and why it was refused; empty if it was not."""
        if self._options:
            number = command.removeprefix("choose ")
            if number not in ("none", *map(str, range(self._options))):
                return "", "first answer the question: choose one of its numbers, or choose none"
            command = "" if number == "none" else number
            self._options = 0
        elif command.startswith("choose "):
            return "", "there is nothing to choose from"
        told = str(self._server.step(command)).strip()
        if told == UNKNOWN and command:
            return "", "the world does not know this command here"
        if told.startswith(_AMBIGUOUS):
            self._options = sum(line[:1].isdigit() for line in told.splitlines())
        return told, ""

    @contextmanager
    def _same_chances(self) -> Iterator[None]:
        """Put the machine's chances back as they were: naming what is possible draws from them.

        A written `java.util.Random` ends in its seed, which `setSeed` scrambles by a constant, and one byte.
        """
        memory = self._machine.java.io.ByteArrayOutputStream()
        writer = self._machine.java.io.ObjectOutputStream(memory)
        writer.writeObject(self._random.self())
        writer.close()
        seed = int.from_bytes(memory.toByteArray()[-9:-1], "big")
        for held in (writer, memory):
            self._gateway.detach(held)
        try:
            yield
        finally:
            self._random.setSeed(seed ^ _SCRAMBLER)

    def _listed(self, held: Any) -> list[str]:
        """Return what a list of the machine holds, and let the machine forget it."""
        text = str(self._join("\n", held))
        self._gateway.detach(held)
        return text.split("\n") if text else []

    def _won(self) -> bool:
        return float(self._server.getScore()) > _FULL_SCORE

    def _progress(self) -> list[tuple[bool, str]]:
        """Return whether each sequential subgoal is reached, and its name; some have only that of their class."""
        told = str(self._server.getGoalProgressStr()).partition("Unordered and Optional")[0]
        return [(done == "true", name.strip() or _in_words(kind)) for done, kind, name in _SUBGOAL.findall(told)]

    def _view(self, told: str) -> View:
        """Return what the world tells after a command."""
        server, score = self._server, float(self._server.getScore())
        won = score > _FULL_SCORE
        here = str(server.freeActionLook()).strip()
        parts = [str(server.freeActionTaskDesc()).strip(), "" if told.strip() == here else told, here]
        parts.append(str(server.freeActionInventory()).strip())
        return View(
            text="\n".join(part for part in parts if part).replace("\t", "  "),
            won=won,
            lost=not won and (score < 0 or bool(server.getCompleted())),
            subgoals=tuple(done for done, _ in self._progress()),
            # A wrong focus makes it negative.
            score=min(max(score, 0.0), 1.0),
        )


def _in_words(kind: str) -> str:
    """Return a goal's class in words.

    >>> _in_words("GoalFindInclinedPlaneNamed")
    'find inclined plane named'
    """
    return " ".join(_WORD.findall(kind.removeprefix("Goal"))).lower() or kind


def _spelled(command: str) -> str:
    """Return a gold command in our words."""
    return f"choose {command}" if command.isdigit() else tidy(command)
