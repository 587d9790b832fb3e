"""`horizon-bench study list` and `study run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro

from puzzles.names import check_name
from studies.factors import FAMILIES
from studies.matrix import SCALES, STUDIES, Cell, Scale, Study, named, only, played_by, select, without_training
from studies.named_policies import ModelOptions, changed_options
from studies.presets import Preset, find_preset, resized
from studies.tracking import TRACKERS

COMPARED = ("smoke", "cpu")
"""Presets whose costs are listed by default."""
FAMILY_HELP = "Board and levels: {}; the preset's own by default.".format(
    ", ".join(
        f"{key} ({family.puzzle}, size {family.size}, {family.levels[0]} to {family.levels[-1]})"
        for key, family in FAMILIES.items()
    )
)


@dataclass(frozen=True)
class StudyList:
    """Show the studies."""

    preset: str = ""
    """Preset that the cost is stated for: smoke, cpu or paper; by default smoke and cpu side by side."""
    family: Annotated[str, tyro.conf.arg(help=FAMILY_HELP)] = ""
    cells: bool = False
    """Show the cells of each study as well."""
    words: bool = False
    """Show the words that cell names are made of."""

    def run(self) -> int:
        """Print studies, questions, number of cells and cost."""
        presets = [find_preset(name) for name in ([self.preset] if self.preset else COMPARED)]
        scales = [find_scale(self.family or preset.family) for preset in presets]
        seeds = ", ".join(f"{preset.name} {preset.seeds}" for preset in presets)
        print(f"Estimated processor minutes of all seeds ({seeds}); divide by the number of workers\n")
        print(f"{'study':<12}{'cells':>6}" + "".join(f"{preset.name:>10}" for preset in presets) + "   question")
        width = max(len(cell.name) for study in STUDIES.values() for cell in study.cells(scales[-1]))
        for study in STUDIES.values():
            by_preset = [study.cells(scale) for scale in scales]
            minutes = [_minutes(preset, cells) for preset, cells in zip(presets, by_preset, strict=True)]
            print(f"{study.name:<12}{len(by_preset[-1]):>6}" + "".join(f"{text:>10}" for text in minutes), end="")
            print(f"   {study.question}")
            for cell in by_preset[-1] if self.cells else ():
                alone = [_minutes(replace(preset, seeds=1), (cell,), shared=False) for preset in presets]
                print(f"  {cell.name:<{width}}" + "".join(f"{text:>10}" for text in alone) + "   a seed, without SFT")
        if self.words:
            from studies.factors import factor_words

            print("\ncell names: study-PUZZLE-INTERFACE-LEVELS-LEARNER[-OPTION...]")
            for factor, known in factor_words().items():
                print(f"  {factor:<16} {known}")
        return 0


def _minutes(preset: Preset, cells: Sequence[Cell], *, shared: bool = True) -> str:
    """Return the expected minutes of some cells, with the SFT that they share or without; `?` where nobody measured."""
    if not cells:
        return "-"
    if preset.costs is None:
        return "?"
    seconds = preset.study_seconds(cells) if shared else sum(map(preset.seconds, cells))
    return f"{seconds * preset.seeds / 60:.1f}"


@dataclass(frozen=True)
class StudyRun:
    """Run a study, or one cell by its name."""

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")]
    """A study (see `study list`), or a cell such as study-sudoku-macro-t3-subgoal."""
    results: Path = Path("results")
    """Folder for the results; a run that was stopped goes on there."""
    preset: str = ""
    """smoke, cpu or paper; by default smoke for the smoke study and cpu for all others."""
    workers: int = 2
    """Worker processes, one thread each; 0 runs everything in this process. On Ray: most runs at a time."""
    ray: str = ""
    """Run on a Ray cluster in place of processes of this machine: its address, such as auto or ray://HOST:10001, or
    local to start one here. All machines need horizon-bench and must share the results folder."""
    seeds: int | None = None
    """Number of seeds, SFT included; the preset's by default."""
    updates: int | None = None
    """RL updates of a cell, shared evenly by the phases of its schedule; the preset's by default."""
    sizes: tuple[str, ...] = ()
    """Other sizes than the preset's, as NAME=VALUE, such as test_puzzles=20 puzzles_per_update=8, and for a language
    model traces=64 single_cap=48; a name that is none lists all."""
    first_seed: int = 0
    """The seeds are this one and those that follow."""
    family: Annotated[str, tyro.conf.arg(help=FAMILY_HELP)] = ""
    puzzle: str = ""
    """A puzzle of your own, as MODULE:NAME: a class, or a name that MODULE registers when imported. Training a small
    model on it takes its compact form; the untrained study and --policy do without."""
    estimator: str = ""
    """An estimator of your own, as MODULE:NAME: a function, or a name that MODULE registers. Beside every cell that
    learns from plain outcomes stands the same one with your estimator."""
    track: str = ""
    """Show the curves while they arise, in tensorboard, trackio or wandb; the records hold the same numbers."""
    only: tuple[str, ...] = ()
    """Run only the cells whose names hold all of these words, such as macro slip1."""
    without: tuple[str, ...] = ()
    """Leave out the cells whose names hold one of these words."""
    model: str = ""
    """Name or folder of the language model that the paper preset trains, in place of its own."""
    policy: str = ""
    """A policy by name that plays the cells as it is, in place of all learners: hf:MODEL, openai:MODEL@BASE_URL, with
    react+, reflexion+ or plan+ before it."""
    processes: int = 0
    """Processes that train each run together (torchrun), one for each GPU; 0 trains it in one."""
    launcher: str = ""
    """A launcher's own words in place of --processes, such as 'accelerate launch --config_file fsdp.yaml'."""
    gpu: str = "h100"
    """Kind of GPU that the estimate is made for: a100, h100 or h200."""
    gpus: int = 0
    """Number of GPUs of a run for the estimate; by default --processes, else 1."""
    dry_run: bool = False
    """Build model configuration, data, optimiser and plan without weights, say what a run takes, and stop."""
    sft_only: bool = False
    """Leave RL out: trained cells are evaluated as they are after SFT."""
    report: bool = True
    """Write report.html at the end."""
    asked: tyro.conf.OmitArgPrefixes[ModelOptions] = field(default_factory=ModelOptions)
    """How the policy of --policy is asked."""

    def run(self) -> int:
        """Run what is left, write the report, and list what failed."""
        from studies.cell import finished, run_job
        from studies.runner import run_study
        from studies.team_job import TeamWork, launch_words

        self._refuse_without_effect(named(self.name))
        if self.workers < 0 or (self.seeds is not None and self.seeds < 1) or self.first_seed < 0:
            raise ValueError("workers and first-seed must be at least 0, seeds at least 1")
        if self.updates is not None and self.updates < 1:
            raise ValueError(f"updates must be at least 1, not {self.updates}")
        if self.track:
            check_name("tracker", self.track, TRACKERS)
        preset = self._preset()
        study, cells = self._chosen(preset)
        seeds = range(self.first_seed, self.first_seed + (self.seeds or preset.seeds))
        if preset.language is not None:
            self._announce(study, cells, seeds, preset)
        if self.dry_run:
            return 0
        # Processes of a cluster have working directories of their own.
        results = self.results.resolve() if self.ray else self.results
        work = TeamWork(launch_words(self.processes, self.launcher)) if self.processes or self.launcher else run_job
        gpus = 0 if preset.language is None else self.gpus or self.processes or 1
        failures = run_study(
            study, cells, seeds, preset, results, work, self.workers, finished, self.ray, self.track, gpus
        )
        for failure in failures:
            print(f"failed: {failure.key}: {failure.error}")
        if self.report and len(failures) < len(cells) * len(seeds):
            from horizon_bench.files import naming
            from reports.page import write_report

            page = self.results / "report.html"
            with naming(page):
                written = write_report(self.results, page)
            print(f"report: {written}")
        return 1 if failures else 0

    def _refuse_without_effect(self, chosen: Study | Cell) -> None:
        """Refuse options that say nothing together with the others."""
        board = [option for option, value in (("--puzzle", self.puzzle), ("--family", self.family)) if value]
        if board and isinstance(chosen, Cell):
            raise ValueError(
                f"cell {chosen.name} has its own puzzle and levels, which {' and '.join(board)} cannot change; name "
                "the cell that you mean, or run a study with that option and choose its cells with --only"
            )
        if len(board) > 1:
            raise ValueError(f"puzzle {self.puzzle!r} brings its own levels; leave --family {self.family} out")
        idle = [option for option, given in (("--estimator", self.estimator), ("--sft-only", self.sft_only)) if given]
        if idle and self.policy:
            raise ValueError(f"policy {self.policy!r} plays every cell as it is; leave {' and '.join(idle)} out")
        if not self.policy and (told := changed_options(self.asked)):
            raise ValueError(f"only a policy of --policy is asked with {told}; name one, or leave that out")

    def _chosen(self, preset: Preset) -> tuple[str, tuple[Cell, ...]]:
        """Return the study's name and the cells that are run of it."""
        study, cells = select(self.name, self._scale(preset))
        if self.estimator:
            from studies.own_estimator import beside

            cells = beside(cells, self.estimator)
        cells = without_training(cells) if self.sft_only else cells
        cells = only(cells, self.only, self.without)
        cells = played_by(cells, self.policy) if self.policy else cells
        if self.puzzle and preset.language is None:
            from studies.compact_form import check_trainable

            check_trainable(cells)
        return study, cells

    def _preset(self) -> Preset:
        smoke = self.name.removeprefix("study-") == "smoke"
        preset = find_preset(self.preset or ("smoke" if smoke else "cpu"))
        if preset.language is None and (self.model or self.dry_run or self.gpus):
            raise ValueError(
                f"preset {preset.name} trains the small model; --model, --dry-run and --gpus go with --preset paper"
            )
        if self.policy:
            preset = replace(preset, asked=self.asked)
        if self.updates is not None:
            preset = replace(preset, updates=self.updates)
        preset = resized(preset, self.sizes)
        return replace(preset, model=self.model) if self.model else preset

    def _announce(self, study: str, cells: Sequence[Cell], seeds: Sequence[int], preset: Preset) -> None:
        """Say what the runs take, and for a dry run all that they would do."""
        from studies.plans import announced, dry_run
        from studies.runner import CellJob

        jobs = [CellJob(str(self.results), study, cell, seed, preset) for seed in seeds for cell in cells]
        say = dry_run if self.dry_run else announced
        for line in say(jobs, self.gpu, self.gpus or self.processes or 1, sharded=bool(self.launcher)):
            print(line, flush=True)

    def _scale(self, preset: Preset) -> Scale:
        if not self.puzzle:
            return find_scale(self.family or preset.family)
        from studies.own_puzzle import scale_of

        return scale_of(self.puzzle)


def find_scale(family: str) -> Scale:
    """Return the scale called `family`, or raise `ValueError` naming the nearest one."""
    return SCALES[check_name("family of levels", family, SCALES)]
