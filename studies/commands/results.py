"""`horizon-bench results migrate`: results of an older version in the form of today."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class ResultsMigrate:
    """Rewrite results of an older schema in that of today, and keep a copy of every file that is touched.

    Reports and studies read older results as they are; this is for folders that are to be kept or read by other
    programs. A file that cannot be read is named and left as it is; the exit status is 1 then. Results of a newer
    version are refused. Stopped in the middle, the same command goes on.
    """

    results: tyro.conf.Positional[Path] = Path("results")
    """A results folder."""
    dry_run: bool = False
    """Only say which files would be rewritten."""

    def run(self) -> int:
        """Rewrite, and say what was done and where the copies are."""
        from reports.migrate import migrate_run, outdated, run_folders
        from reports.panels import counted
        from reports.schema import SCHEMA_VERSION
        from studies.locks import locked

        if not self.results.is_dir():
            raise ValueError(f"no results folder at {self.results}")
        runs = run_folders(self.results)
        old = [path for run in runs for path in outdated(run)]  # refuses newer files before anything is changed
        among = counted([len(runs)], "run")
        if self.dry_run:
            for path in old:
                print(path)
            print(f"{counted([len(old)], 'file')} of {among} would be rewritten in schema {SCHEMA_VERSION}")
            return 0
        changed = 0
        problems: list[str] = []
        for run in runs:
            with locked(run):
                done = migrate_run(run, self.results)
            changed += len(done.changed)
            problems += done.problems
            if done.changed:
                print(f"{run}: {', '.join(path.name for path in done.changed)}; copies in {done.backup}", flush=True)
        print(f"{counted([changed], 'file')} of {among} rewritten in schema {SCHEMA_VERSION}")
        for line in problems:
            print(line, file=sys.stderr)
        return 1 if problems else 0
