"""Links of the documentation lead somewhere, to the heading that they name; links out of it have the form of one."""

from __future__ import annotations

import functools
import urllib.parse

import pytest
from written_pages import PAGES, ROOT, anchors, links, read, slugify

LINKED = [page for page in PAGES if list(links(page))]


@functools.cache
def anchors_of(page: str) -> frozenset[str]:
    return frozenset(anchors(page))


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_somewhere(page: str) -> None:
    wrong = [f"{page}:{line}: {target}" for line, target in links(page) if not leads_somewhere(page, target)]
    assert wrong == []


def leads_somewhere(page: str, target: str) -> bool:
    parts = urllib.parse.urlsplit(target)
    if parts.scheme:
        return parts.scheme == "https" and "." in parts.netloc and " " not in target
    path = (ROOT / page).parent / urllib.parse.unquote(parts.path) if parts.path else ROOT / page
    if "reference" in path.parts[-2:]:
        return in_the_reference(path.name)
    if not path.exists():
        return False
    if not parts.fragment:
        return path.is_file()
    return parts.fragment in anchors_of(path.resolve().relative_to(ROOT).as_posix())


def in_the_reference(name: str) -> bool:
    """Pages of the reference are made when the site is built, one for each package."""
    from making.reference import pages

    return f"reference/{name}" in pages()


def test_no_page_is_left_out_of_the_navigation() -> None:
    navigation = read("mkdocs.yml").split("\nnav:\n")[1]
    for page in PAGES:
        if page.startswith("docs/"):
            path = page.removeprefix("docs/")
            assert path in navigation or f"{path.rpartition('/')[0]}/*" in navigation, f"{path} is not in mkdocs.yml"


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Bias, variance, direction: the probe", "bias-variance-direction-the-probe"),
        ("TRL's GRPOTrainer", "trls-grpotrainer"),
        ("The `split` interface", "the-split-interface"),
        ("4\N{MULTIPLICATION SIGN}4 boards", "44-boards"),
    ],
)
def test_headings_get_the_anchors_of_the_site(heading: str, anchor: str) -> None:
    assert slugify(heading) == anchor
