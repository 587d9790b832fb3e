"""The pictures of who imports whom, read off the code: the six packages, and the parts of `horizon_bench`.

The code is parsed, never run. An import inside a function, or for types alone, counts as *late*: it costs nothing until
it is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ORDER = ("puzzles", "solvers", "curricula", "horizon_bench", "reports", "studies")
"""The six packages; each imports only what stands to its left."""
HOLDS = {
    "puzzles": "rules and text",
    "solvers": "plans, distances",
    "curricula": "levels and banks",
    "horizon_bench": "playing, learning",
    "reports": "statistics, figures",
    "studies": "matrix, commands",
}
COLOURS = ("#0072B2", "#009E73", "#A56A00", "#D55E00", "#A64D82", "#1c2430")
"""Of the arrows of each package, in order."""
INK, GRID, PAPER, SHADE = "#1c2430", "#c9ced6", "#ffffff", "#eef1f5"
WIDTH, HEIGHT, GAP, TOP = 124, 52, 16, 138
"""Of a package's box, of what lies between two, and of the space for arrows, in pixels."""
FIELD, NAMES = 20, 122
"""Side of a field of the table of parts, and the space for names."""

Edges = Mapping[tuple[str, str], bool]
"""Who imports whom, and whether it does so as soon as it is imported itself."""


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the dotted name of everything that a file imports, and whether it does so late."""
    tree = ast.parse(path.read_text(encoding="utf8"))
    late = {id(inner) for node in ast.walk(tree) if _defers(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((f"{node.module}.{alias.name}", id(node) in late) for alias in node.names)


def _defers(node: ast.AST) -> bool:
    """Return whether what stands in a node is not run when its module is imported."""
    types_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    return types_only or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def package_edges(root: Path = ROOT) -> dict[tuple[str, str], bool]:
    """Return which of the six packages imports which other."""
    return _edges(root, lambda name: name.split(".")[0], ORDER)


def parts_of(root: Path = ROOT) -> list[str]:
    """Return the folders and modules of `horizon_bench` by name, itself not among them."""
    return sorted(path.stem for path in (root / "horizon_bench").iterdir() if _is_part(path))


def part_edges(root: Path = ROOT) -> dict[tuple[str, str], bool]:
    """Return which part of `horizon_bench` imports which other."""

    def part(name: str) -> str:
        package, _, rest = name.partition(".")
        return rest.split(".")[0] if package == "horizon_bench" else ""

    return _edges(root, part, parts_of(root))


def _is_part(path: Path) -> bool:
    return (path / "__init__.py").exists() or (path.suffix == ".py" and not path.stem.startswith("__"))


def _edges(root: Path, owner: Callable[[str], str], owners: Iterable[str]) -> dict[tuple[str, str], bool]:
    """Return the edges between owners of modules, by names in order."""
    found: dict[tuple[str, str], bool] = {}
    known = set(owners)
    for package in ORDER:
        for path in sorted((root / package).rglob("*.py")):
            importer = owner(".".join(path.relative_to(root).with_suffix("").parts))
            for name, late in imports_of(path):
                edge = (importer, owner(name))
                if importer != edge[1] and known.issuperset(edge):
                    found[edge] = found.get(edge, False) or not late
    return dict(sorted(found.items()))


def layered(edges: Edges, names: Iterable[str]) -> list[str]:
    """Return names so that each stands after all that it imports at once; those of a circle stand together."""
    below = {name: {to for (of, to), at_once in edges.items() if of == name and at_once} for name in names}
    for _ in below:
        below = {name: found.union(*(below[each] for each in found)) for name, found in below.items()}
    return sorted(below, key=lambda name: (len(below[name] - {name}), name))


def package_picture(edges: Edges) -> str:
    """Return the six packages side by side as SVG, an arrow from each to every package that it imports."""
    boxes = [_box(number, name) for number, name in enumerate(ORDER)]
    arrows = [_arrow(edge, at_once, edges) for edge, at_once in edges.items()]
    markers = [
        f'<marker id="head{number}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
        for number, colour in enumerate(COLOURS)
    ]
    width = len(ORDER) * (WIDTH + GAP) + GAP
    body = ["<defs>", *markers, "</defs>", *arrows, *boxes]
    return _svg(width, TOP + HEIGHT + 16, "Which package imports which", edges, body)


def _box(number: int, name: str) -> str:
    left, middle = _left(number), _left(number) + WIDTH / 2
    return (
        f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{SHADE}" '
        f'stroke="{COLOURS[number]}" stroke-width="1.5"/>'
        f'<text class="name" x="{middle}" y="{TOP + 22}">{name}</text>'
        f'<text x="{middle}" y="{TOP + 39}">{HOLDS[name]}</text>'
    )


def _left(number: int) -> int:
    return GAP + number * (WIDTH + GAP)


def _arrow(edge: tuple[str, str], at_once: bool, edges: Edges) -> str:
    """Return an arc above the boxes: arrows leave a box at its left half and arrive at the right half of another."""
    importer, imported = map(ORDER.index, edge)
    out = sorted((ORDER.index(to) for of, to in edges if of == edge[0]), reverse=True)
    into = sorted(ORDER.index(of) for of, to in edges if to == edge[1])
    half = WIDTH / 2 - 6
    start = _left(importer) + 6 + half * (out.index(imported) + 0.5) / len(out)
    end = _left(imported) + WIDTH - 6 - half * (into.index(importer) + 0.5) / len(into)
    peak = TOP - 4 - 1.33 * 19 * abs(importer - imported)
    dashes = "" if at_once else ' stroke-dasharray="4 3"'
    return (
        f'<path d="M{start:.1f} {TOP}C{start:.1f} {peak:.1f} {end:.1f} {peak:.1f} {end:.1f} {TOP - 2}" fill="none" '
        f'stroke="{COLOURS[importer]}" stroke-width="1.5" marker-end="url(#head{importer})"{dashes}/>'
    )


def part_picture(edges: Edges, parts: Sequence[str]) -> str:
    """Return a table as SVG: a row for each part, a mark under each part that it imports."""
    names = layered(edges, parts)
    side = len(names) * FIELD
    body = [f'<path d="{_grid(len(names))}" stroke="{GRID}" fill="none"/>']
    for number, name in enumerate(names):
        x, y = NAMES + FIELD * (number + 0.5), NAMES + FIELD * (number + 0.5)
        body += [
            f'<text class="row" x="{NAMES - 8}" y="{y + 4}">{name}</text>',
            f'<text class="column" transform="translate({x + 4} {NAMES - 8}) rotate(-55)">{name}</text>',
            f'<rect x="{x - FIELD / 2}" y="{y - FIELD / 2}" width="{FIELD}" height="{FIELD}" fill="{GRID}"/>',
        ]
    for (importer, imported), at_once in edges.items():
        x, y = (NAMES + FIELD * (names.index(name) + 0.5) for name in (imported, importer))
        fill = COLOURS[0] if at_once else PAPER
        body.append(f'<circle cx="{x}" cy="{y}" r="5.5" fill="{fill}" stroke="{COLOURS[0]}" stroke-width="1.5"/>')
    legend = NAMES + side + 24
    for x, fill, words in ((16, COLOURS[0], "imports at once"), (150, PAPER, "imports late")):
        body.append(f'<circle cx="{x}" cy="{legend}" r="5.5" fill="{fill}" stroke="{COLOURS[0]}" stroke-width="1.5"/>')
        body.append(f'<text class="left" x="{x + 12}" y="{legend + 4}">{words}</text>')
    return _svg(NAMES + side + 70, legend + 20, "Which part of horizon_bench imports which", edges, body)


def _grid(count: int) -> str:
    end = NAMES + count * FIELD
    lines = (NAMES + number * FIELD for number in range(count + 1))
    return "".join(f"M{NAMES} {line}H{end}M{line} {NAMES}V{end}" for line in lines)


def _svg(width: int, height: int, title: str, edges: Edges, body: Sequence[str]) -> str:
    """Return a drawing with its edges in words, for those who cannot see it."""
    style = (
        f"text{{font:12px system-ui,sans-serif;fill:{INK};text-anchor:middle}}.name{{font-weight:600;font-size:14px}}"
        ".row{text-anchor:end}.left,.column{text-anchor:start}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(in_words(edges))}</desc>",
            f"<style>{style}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
            *body,
            "</svg>\n",
        ]
    )


def in_words(edges: Edges) -> str:
    """Return edges as sentences, late imports in brackets."""
    sentences = []
    for name in layered(edges, sorted({name for edge in edges for name in edge})):
        found = [to if at_once else f"({to})" for (of, to), at_once in edges.items() if of == name]
        if found:
            sentences.append(f"{name} imports {', '.join(found)}.")
    return " ".join(sentences)


def pages() -> dict[str, str]:
    """Return both pictures by their paths in `docs`."""
    return {
        "images/packages.svg": package_picture(package_edges()),
        "images/parts.svg": part_picture(part_edges(), parts_of()),
    }
