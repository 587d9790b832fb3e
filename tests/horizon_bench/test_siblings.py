from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from horizon_bench.siblings import changed_files, check_siblings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on the path with an installed package `hb_sibling`."""
    folder = tmp_path / "site"
    add_package(folder, "hb_sibling")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def add_package(folder: Path, name: str, text: str = "") -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "__init__.py").write_text(text, encoding="utf8")


def install(folder: Path, distribution: str, files: dict[str, str]) -> None:
    """Write files as an installer does, with the list of them."""
    lines = []
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
        lines.append(f"{name},sha256=x,{len(text)}")
    notes = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    notes.mkdir(exist_ok=True)
    (notes / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf8")
    (notes / "RECORD").write_text("\n".join([*lines, f"{notes.name}/RECORD,,"]), encoding="utf8")


def test_a_package_in_its_place_passes(home: Path) -> None:
    check_siblings(("hb_sibling",), home)


@pytest.mark.parametrize("form", ["package", "module", "folder"])
def test_another_of_that_name_in_front_is_named_with_its_place_and_a_way_out(
    form: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front, name = tmp_path / "front", "hb_clashing"
    front.mkdir()
    if form == "package":
        add_package(front, name)
    elif form == "module":
        (front / f"{name}.py").write_text("", encoding="utf8")
    else:
        (front / name).mkdir()
    monkeypatch.syspath_prepend(str(front))
    with pytest.raises(ImportError, match="environment of its own") as told:
        check_siblings((name,), home)
    assert str(front / name) in str(told.value)


def test_a_folder_without_code_in_front_is_no_clash(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "hb_sibling").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "work"))
    check_siblings(("hb_sibling",), home)


def test_a_missing_package_and_one_that_lost_its_start_are_told_apart(home: Path) -> None:
    with pytest.raises(ImportError, match="is missing from"):
        check_siblings(("hb_no_such_package",), home)
    (home / "hb_emptied").mkdir()
    with pytest.raises(ImportError, match="has lost its __init__"):
        check_siblings(("hb_emptied",), home)


def test_a_module_made_by_hand_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hb_by_hand", type(sys)("hb_by_hand"))
    with pytest.raises(ImportError, match="hb_by_hand"):
        check_siblings(("hb_by_hand",), home)


def test_files_that_another_distribution_wrote_over_are_found(home: Path) -> None:
    install(home, "horizon-bench", {"reports/__init__.py": "ours", "reports/page.py": "ours", "other/x.py": "theirs"})
    assert changed_files(home) == []
    (home / "other" / "x.py").unlink()
    (home / "reports" / "page.py").write_text("longer than ours", encoding="utf8")
    assert changed_files(home) == ["reports/page.py"]
    (home / "reports" / "__init__.py").unlink()
    assert changed_files(home) == ["reports/__init__.py", "reports/page.py"]


def test_a_changed_module_is_a_warning_and_a_changed_package_an_error(home: Path) -> None:
    install(home, "horizon-bench", {"hb_sibling/__init__.py": "", "hb_sibling/page.py": "ours"})
    install(home, "other-reports", {"hb_sibling/page.py": "from another"})
    with pytest.warns(RuntimeWarning, match=r"hb_sibling/page\.py.*the distribution other-reports .*force-reinstall"):
        check_siblings(("hb_sibling",), home)
    install(home, "other-reports", {"hb_sibling/__init__.py": "from another", "hb_sibling/page.py": "from another"})
    with pytest.raises(ImportError, match=r"hb_sibling/__init__\.py, hb_sibling/page\.py .*environment of its own"):
        check_siblings(("hb_sibling",), home)


@pytest.mark.parametrize("command", [["-c", "import horizon_bench"], ["-m", "horizon_bench", "--version"]])
def test_an_installed_intruder_stops_the_import_and_the_command_by_name(command: list[str], tmp_path: Path) -> None:
    install(tmp_path, "other-reports", {"reports/__init__.py": ""})
    run = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
    )
    assert run.returncode != 0
    last = run.stderr.strip().rpartition("\n")[2]
    assert last.startswith("ImportError: package 'reports' at")
    assert str(tmp_path / "reports") in last
    assert "the distribution other-reports brings one of that name" in last
    assert "environment of its own" in last
