"""The fewest extra erasures that mutually blocking wrong digits need, exactly.

Where own digits may be overwritten, a wrong digit is normally put right in one action. It cannot be while its right
digit stands, wrongly, in a peer; that peer has to change first. A circle of such debts is broken only by erasing (or
overwriting twice) one of its cells. The extra actions are therefore a smallest set of cells that meets every circle: a
minimum feedback vertex set of the graph of debts.
"""

from __future__ import annotations

Graph = dict[int, set[int]]
"""Cell to the cells that must change before it."""


def fewest_breaks(waits_for: Graph) -> int:
    """Return the size of a smallest set of nodes that meets every directed circle."""
    graph, forced = _reduced(waits_for)
    size = _disjoint_circles(graph)
    while not _breakable(graph, size):
        size += 1
    return forced + size


def _breakable(graph: Graph, budget: int) -> bool:
    """Return whether some `budget` nodes meet every circle of `graph`."""
    graph, forced = _reduced(graph)
    budget -= forced
    if budget < 0:
        return False
    if not graph:
        return True
    if _disjoint_circles(graph) > budget:
        return False
    return any(_breakable(_without(graph, node), budget - 1) for node in _short_circle(graph))


def _without(graph: Graph, node: int) -> Graph:
    """Return the graph without a node."""
    return {other: successors - {node} for other, successors in graph.items() if other != node}


def _reduced(graph: Graph) -> tuple[Graph, int]:
    """Return an equivalent smaller graph and the number of nodes that any answer must take besides.

    Nodes without way in or way out lie on no circle; a node with one way in or out can be bypassed; a node that waits
    for itself must be taken.
    """
    forced = 0
    graph = {node: {other for other in others if other in graph} for node, others in graph.items()}
    changed = True
    while changed:
        changed = False
        for node in list(graph):
            before = [other for other in graph if node in graph[other]]
            after = graph[node]
            if node in after:
                forced += 1
            elif len(before) > 1 and len(after) > 1:
                continue
            else:
                for other in before:
                    graph[other] |= after
            graph = _without(graph, node)
            changed = True
            break
    return graph, forced


def _short_circle(graph: Graph) -> list[int]:
    """Return the nodes of a shortest directed circle, [] if there is none."""
    best: list[int] = []
    for start in graph:
        came_from: dict[int, int] = {}
        layer = [start]
        while layer and start not in came_from:
            following = []
            for node in layer:
                for other in sorted(graph[node]):
                    if other not in came_from:
                        came_from[other] = node
                        following.append(other)
            layer = following
        if start in came_from:
            circle, node = [start], came_from[start]
            while node != start:
                circle.append(node)
                node = came_from[node]
            if not best or len(circle) < len(best):
                best = circle
    return best


def _disjoint_circles(graph: Graph) -> int:
    """Return a number of circles that share no node: a lower bound on the breaks."""
    count = 0
    while circle := _short_circle(graph):
        count += 1
        for node in circle:
            graph = _without(graph, node)
    return count
