"""The reference: a page for each package, filled from the docstrings by mkdocstrings when the site is built."""

from __future__ import annotations

import ast
import pkgutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("puzzles", "solvers", "curricula", "horizon_bench", "reports", "studies")


def packages() -> dict[str, list[str]]:
    """Return the modules of each package and subpackage by its name, in the order of dependence."""
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        found[package] = []
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if any(part.startswith("_") for part in module.name.split(".")):
                continue
            if module.ispkg:
                found[module.name] = []
            else:
                found[module.name.rpartition(".")[0]].append(module.name)
    return found


def first_line(name: str) -> str:
    """Return the first paragraph of a module's docstring, read without importing it."""
    path = ROOT.joinpath(*name.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def page(package: str, modules: list[str]) -> str:
    """Return the page of a package; each module of it is filled in when the site is built."""
    parts = [f"# {package}", first_line(package)]
    parts += [f"::: {name}" for name in modules]
    return "\n\n".join(parts) + "\n"


def index(found: dict[str, list[str]]) -> str:
    """Return the page that lists all packages."""
    lines = [f"- [{name}]({name}.md): {first_line(name)}" for name in found]
    parts = [
        "# Reference",
        "A package imports only what stands above it, and `import horizon_bench` loads no torch. "
        "Made from the docstrings when the site is built.",
        "\n".join(lines),
    ]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Return every page of the reference by its path in `docs`."""
    found = packages()
    made = {f"reference/{name}.md": page(name, modules) for name, modules in found.items()}
    return {"reference/index.md": index(found)} | made
