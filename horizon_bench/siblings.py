"""Guards the packages that come beside this one: their names are common, and another distribution may use them too.

A clash takes one of two forms. Another package of the same name stands in front on the path; or another distribution
was installed into the same folder and wrote over files of this one. Both are told on import, with a way out.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "horizon-bench"
SIBLINGS = ("puzzles", "solvers", "curricula", "reports", "studies")
"""Packages that come with this one, under names that others may use as well."""
WAY_OUT = f"install {DISTRIBUTION} into an environment of its own (python -m venv NAME)"


def check_siblings(names: tuple[str, ...] = SIBLINGS, home: Path | None = None) -> None:
    """Check that the packages beside this one are its own, and that nothing was written over them.

    Args:
        names: packages that must lie in `home`.
        home: the folder that holds this package; by default where it was imported from.

    Raises:
        ImportError: naming the package that another distribution put in the way, where it lies, whose it is, and what
            to do.
    """
    home = home or Path(__file__).resolve().parent.parent
    for name in names:
        _check_place(name, home)
    changed = changed_files(home, names)
    mine = {f"{name}/__init__.py" for name in names}
    if mine & set(changed):
        raise ImportError(_overwritten(changed, home))
    if changed:
        warnings.warn(_overwritten(changed, home), RuntimeWarning, stacklevel=3)


def changed_files(home: Path, names: tuple[str, ...] = SIBLINGS) -> list[str]:
    """Return the files of this distribution in `home` whose size is no longer what was installed.

    Sizes tell a file that another distribution wrote over, at the cost of one look at the folder for each. An editable
    installation lists no modules, so nothing is found there.

    Args:
        home: folder that the distribution was installed into.
        names: packages to look at, besides `horizon_bench` itself.
    """
    changed = []
    for line in _record(home).splitlines():
        name, _, size = line.strip().rpartition(",")
        name = name.rpartition(",")[0].strip('"')
        if not (size.isdigit() and name.partition("/")[0] in (*names, "horizon_bench")):
            continue
        try:
            same = (home / name).stat().st_size == int(size)
        except OSError:
            same = False
        if not same:
            changed.append(name)
    return changed


def _check_place(name: str, home: Path) -> None:
    try:
        spec = find_spec(name)
    except ValueError:
        # A module without a specification: made by hand and put into sys.modules.
        raise ImportError(f"a module {name!r} that is not the one of horizon_bench is in use; {WAY_OUT}") from None
    if spec is None:
        raise ImportError(
            f"package {name!r}, which belongs to horizon_bench, is missing from {home}; install it again: "
            f"python -m pip install --force-reinstall --no-deps {DISTRIBUTION}"
        )
    if spec.origin is not None and Path(spec.origin).resolve() == home / name / "__init__.py":
        return
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ["an unknown place"])
    place = Path(places[0]).resolve()
    place = place.parent if place.name == "__init__.py" else place
    if place == home / name:
        raise ImportError(
            f"package {name!r} in {home} has lost its __init__.py, perhaps with another distribution that was removed; "
            f"install it again: python -m pip install --force-reinstall --no-deps {DISTRIBUTION}"
        )
    raise ImportError(
        f"package {name!r} at {place} is not the one of horizon_bench in {home}{_whose(name)}; {WAY_OUT}, or rename or "
        "move what is in the way"
    )


def _overwritten(changed: list[str], home: Path) -> str:
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    return (
        f"files of {DISTRIBUTION} in {home} are not as they were installed: {shown}"
        f"{_whose(changed[0].partition('/')[0])}; {WAY_OUT}, or install it again: "
        f"python -m pip install --force-reinstall --no-deps {DISTRIBUTION}"
    )


def _whose(name: str) -> str:
    """Return which other distributions bring a package of this name, as a clause; "" where none is known."""
    # Costs more than all the rest of this module, and is needed in an emergency only.
    from importlib import metadata

    others = {each.lower() for each in metadata.packages_distributions().get(name, [])} - {DISTRIBUTION}
    return f" (the distribution {', '.join(sorted(others))} brings one of that name)" if others else ""


def _record(home: Path) -> str:
    """Return what the installer wrote about the files of this distribution in `home`; "" where it wrote nothing."""
    for folder in home.glob(f"{DISTRIBUTION.replace('-', '_')}-*.dist-info"):
        try:
            return (folder / "RECORD").read_text(encoding="utf8")
        except OSError:
            continue
    return ""
