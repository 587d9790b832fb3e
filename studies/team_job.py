"""One job of a study done by several processes together: `torchrun`, or any launcher of accelerate, inside a cell.

The study's own process stays single; each job is written to a file, a launcher starts the team on it, and the leader
writes back how it went. Records and checkpoints are those of one process.
"""

from __future__ import annotations

import json
import os
import pickle
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from horizon_bench.files import in_words
from studies.pool import Report

if TYPE_CHECKING:
    from studies.runner import CellJob


@dataclass(frozen=True)
class TeamWork:
    """Does jobs in teams; picklable, as the pool wants its work."""

    launch: tuple[str, ...]
    """Words that start a team, to be followed by `-m MODULE ARGUMENT`."""

    def __call__(self, job: CellJob, report: Report) -> str:
        """Do one job; returns a few words on how it went.

        Raises:
            ValueError: with the team's own words where it failed on what it was given.
            RuntimeError: if it died.
        """
        from studies.cell import run_job

        if (job.supervised_only and job.preset.language is None) or not job.cell.needs_sft:
            return run_job(job, report)
        report(0.0, "team")
        with tempfile.TemporaryDirectory() as folder:
            order, answer = Path(folder) / "job.pickle", Path(folder) / "answer.json"
            order.write_bytes(pickle.dumps(job))
            words = [*self.launch, "-m", "studies.team_job", folder]
            status = subprocess.run(words, env=team_environment(), check=False).returncode
            if not answer.exists():
                raise RuntimeError(f"the team died (exit status {status}): {shlex.join(words[:-1])}")
            said = json.loads(answer.read_text(encoding="utf8"))
        if said["refused"]:
            raise ValueError(said["refused"])
        return str(said["result"])


def launch_words(processes: int, launcher: str) -> tuple[str, ...]:
    """Return the words that start a team.

    >>> launch_words(0, "accelerate launch --config_file fsdp.yaml")
    ('accelerate', 'launch', '--config_file', 'fsdp.yaml')

    Args:
        processes: processes of this machine, for torchrun.
        launcher: a launcher's own words instead.

    Raises:
        ValueError: if both are given, or one process, which is no team.
    """
    if launcher and processes:
        raise ValueError("give --processes, or the number of processes in --launcher, not both")
    if launcher:
        return tuple(shlex.split(launcher))
    if processes < 2:
        raise ValueError(f"processes is {processes}, must be at least 2; 0 trains each run in one process")
    return (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))


def team_environment() -> dict[str, str]:
    """Return the environment of a team: accelerate needs to be told where there is no GPU."""
    import torch

    return dict(os.environ) if torch.cuda.is_available() else {**os.environ, "ACCELERATE_USE_CPU": "true"}


def main(folder: Path) -> None:
    """Do the job in a folder as one process of a team."""
    import torch
    from accelerate import PartialState

    from horizon_bench.training.team import Team
    from studies.cell import run_job

    state = PartialState(cpu=not torch.cuda.is_available())
    job: CellJob = pickle.loads((folder / "job.pickle").read_bytes())
    said = {"result": "", "refused": ""}
    try:
        said["result"] = run_job(job, lambda share, note: None)
    except (ValueError, OSError) as error:
        said["refused"] = in_words(error)
    if Team.current().leads or said["refused"]:
        draft = folder / f"answer.{Team.current().rank}"
        draft.write_text(json.dumps(said), encoding="utf8")
        draft.replace(folder / "answer.json")
    if said["refused"]:
        raise SystemExit(1)  # the launcher then ends the others, who would wait for this one
    state.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
