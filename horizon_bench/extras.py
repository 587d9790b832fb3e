"""Optional packages: which extra of this distribution brings each, and an error that says so where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS: dict[str, tuple[str, ...]] = {
    "train": ("accelerate", "datasets", "safetensors", "tokenizers", "torch", "transformers", "trl"),
    "lora": ("peft",),
    "vllm": ("vllm",),
    "endpoint": ("httpx2",),
    "ray": ("ray",),
    "outside": ("alfworld", "scienceworld", "textworld"),
    "verifiers": ("verifiers",),
    "openenv": ("openenv",),
}
"""Packages that each extra brings and that the base installation lacks, by their import names."""


def install(extra: str) -> str:
    """Return the command that installs an extra; double quotes serve every shell, Windows' included.

    >>> install("train")
    'python -m pip install "horizon-bench[train]"'
    """
    return f'python -m pip install "horizon-bench[{extra}]"'


@contextmanager
def extra_needed() -> Iterator[None]:
    """Turn the error of a missing optional package inside the block into one that names the extra that brings it.

    Raises:
        ModuleNotFoundError: naming the package and the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        advice = missing_package(error)
        if advice is None:
            raise
        raise ModuleNotFoundError(advice, name=error.name, path=error.path) from error


def missing_package(error: ModuleNotFoundError) -> str | None:
    """Return which package is missing and how to install it; None if no extra brings it.

    >>> missing_package(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))
    'the package torch is missing; install it with: python -m pip install "horizon-bench[train]"'
    """
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f"the package {package} is missing; install it with: {install(extra)}"
    return None
