from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import reports.page as page_module
from reports.page import write_report

VOID = {"meta", "link", "br", "path", "rect", "use", "image", "line", "circle"}


class Outline(HTMLParser):
    """Collects ids, links and unclosed elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"]] if values.get("id") else []
        self.links += [values["href"]] if tag == "a" and values.get("href") else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(small, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def text(page: Path) -> str:
    return page.read_text(encoding="utf8")


def test_the_page_is_whole_and_its_links_lead_somewhere(text: str) -> None:
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.links
    assert all(link.removeprefix("#") in outline.ids for link in outline.links)


def test_the_page_needs_no_network_and_no_script(text: str) -> None:
    outside = [link for link in re.findall(r'(?:src|href)="([^"#][^"]*)"', text) if not link.startswith("data:")]
    assert outside == []
    assert "<script" not in text
    assert "@import" not in text
    assert not re.search(r"url\((?!#|data:)", text)


def test_the_page_says_what_a_reader_came_for(text: str) -> None:
    for words in (
        "How far a policy can be trusted: H50",
        "atomic, trained on T3",
        "1 of 2 seeds collapsed",
        "success-halved",
        "Beside the published numbers",
        "different scale",
        "n = ",
        "python 3.11.2",
        "prefers-color-scheme: dark",
        "decision 1",
    ):
        assert words in text


def test_what_a_policy_wrote_cannot_become_markup(text: str) -> None:
    assert "&lt;think&gt; b1 &lt;3 &amp; more&gt; &lt;/think&gt;" in text
    assert "<think>" not in text


def test_figures_and_tables_stand_beside_the_page(page: Path) -> None:
    files = page.parent / "report_files"
    assert (files / "figures" / "h50.svg").exists()
    assert (files / "figures" / "h50.png").exists()
    assert (files / "tables" / "levels.csv").exists()


def test_the_same_records_give_the_same_page(page: Path, small: Path, tmp_path: Path) -> None:
    again = write_report(small, tmp_path / "again.html")
    assert again.read_bytes() == page.read_bytes()
    for figure in (page.parent / "report_files" / "figures").iterdir():
        assert (tmp_path / "again_files" / "figures" / figure.name).read_bytes() == figure.read_bytes()


@pytest.fixture
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw two figures only, where the test is not about them."""
    monkeypatch.setattr(page_module, "FIGURES", {name: page_module.FIGURES[name] for name in ("training", "entropy")})


@pytest.mark.usefixtures("few_figures")
def test_damage_is_said_on_the_page_and_the_rest_is_shown(make, tmp_path: Path) -> None:
    folder = make.results(tmp_path / "results", (make.arms[3],), seeds=2, puzzles=5)
    runs = sorted(path.parent for path in folder.rglob("cell.json"))
    with (runs[0] / "records.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    (runs[0] / "episodes.parquet").write_bytes(b"garbage")
    (runs[1] / "done.json").unlink()
    text = write_report(folder).read_text(encoding="utf8")
    assert "Missing or damaged" in text
    assert "records.jsonl:" in text
    assert "episodes.parquet: unreadable" in text
    assert "not finished" in text
    assert "macro, trained on T3" in text


@pytest.mark.usefixtures("few_figures")
def test_a_run_that_only_just_began_has_a_page(make, tmp_path: Path) -> None:
    folder = make.results(tmp_path / "results", (make.arms[3],), seeds=1, puzzles=5)
    path = next(folder.rglob("records.jsonl"))
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b'"kind":"update"' in line]
    path.write_bytes(b"".join(lines[:3]))
    text = write_report(folder).read_text(encoding="utf8")
    assert "No evaluations yet" in text


def test_nothing_to_report_is_an_error_and_leaves_an_old_page_alone(small: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(small, tmp_path / "results"))
    (folder / "report.html").write_text("old")
    for path in folder.rglob("records.jsonl"):
        path.unlink()
    with pytest.raises(ValueError, match="no readable results"):
        write_report(folder)
    assert (folder / "report.html").read_text() == "old"


def test_the_page_shows_who_gets_the_credit_and_what_updates_did_with_it(text: str) -> None:
    section = text.split('id="figure-credit"')[1].split("</section>")[0]
    assert section.count('<figure class="wide">') == 1
    assert "goal distance" in section
    assert "beacon-released" in section
    assert "<b>Not stored.</b>" in section
    assert "CAR (%)" in text.split('id="diagnostics"')[1].split("</section>")[0]
