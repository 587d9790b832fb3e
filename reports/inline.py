"""Figures inside a page: SVG text that follows the page's colours, fonts and width, and whose ids do not clash."""

from __future__ import annotations

import re
from html import escape

from reports.figures.style import GRID, INK, INTERFACE_COLOURS, PAPER

_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_COMMENTS = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_NAMED = re.compile(r' id="([^"]+)"')
_USED = re.compile(r'(?:url\(#|xlink:href="#)([^)"]+)')


def inline_svg(svg: bytes, name: str, title: str) -> str:
    """Return a figure's SVG as an element of a page.

    Args:
        svg: a whole SVG file, as `reports.figures.svg_bytes` makes it.
        name: unique in the page; prefixed to the ids that the figure refers to.
        title: what is seen, for those who cannot see it.
    """
    text = _COMMENTS.sub("", _METADATA.sub("", _HEAD.sub("", svg.decode())))
    used = set(_USED.findall(text))
    text = _NAMED.sub(lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(r'xlink:href="#', f'href="#{name}-', text)
    text = re.sub(r"font: ([^;\"]*?)'DejaVu Sans'[^;\"]*", r"font: \1var(--sans)", text)
    for colour, value in ((INK, "currentColor"), (GRID, "var(--grid)"), (PAPER, "var(--paper)")):
        text = text.replace(colour, value)
    for colour in INTERFACE_COLOURS.values():
        text = text.replace(colour.lower(), css_colour(colour))
    named = f'role="img" aria-label="{escape(title)}"'
    return re.sub(r"<svg ([^>]*)>", lambda match: f"<svg {_root(match[1])} {named}>", text, count=1)


def css_colour(colour: str) -> str:
    """Return one of the interfaces' colours as a variable that the page may lighten on a dark ground."""
    return f"var(--c-{colour[1:].lower()}, {colour})"


def _root(attributes: str) -> str:
    return " ".join([*re.findall(r'(?:viewBox|version)="[^"]*"', attributes), 'class="figure"'])
