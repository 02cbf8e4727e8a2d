"""How heavy can a set of vertices be no two of which are neighbours? A bound from above, proven.

Of a clique at most one can be in it. So for any numbers y(C) >= 0 over cliques C,

    weight of the set  <=  sum of y(C)  +  sum over vertices v of max(0, w(v) - sum of y(C), v in C)

for each v of the set is paid for by the cliques that hold it and by the rest that they leave. This
is what is proven; where the numbers come from does not matter. They come from a greedy cover (of
the lightest vertex left make a clique, and pay its weight), and with SciPy (`pip install
'overcoat[bounds]'`) from the linear program over these cliques and those that its solutions
violate, solved by HiGHS; its numbers are rounded, and the sum above is taken in whole numbers.

Everything is done in a fixed order and for a fixed number of rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.scopes import bits
from overcoat.context import QUIET, Stage

__all__ = ["Graph", "heaviest_independent", "linear_programs"]

_LOOKED_AT = 48  # candidates for the next vertex of a clique
_ROUNDS = 20  # of the linear program
_CLIQUES = 1500  # added in a round, at most
_WORK = 80_000  # entries of all programs together
_LARGE = 25_000  # entries of a program that is made smaller
_GRAIN = 1 << 16  # of what HiGHS returns, whole parts of a unit

Clique = tuple[int, ...]


def linear_programs() -> bool:
    """Whether SciPy is there."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        return False
    return True


class Graph:
    """Vertices and their neighbours, as bits; vertex v of n."""

    def __init__(self, n: int, first: Sequence[int], second: Sequence[int]) -> None:
        self.n = n
        flags = np.zeros((n, n), bool) if n <= 4096 else None
        self.beside = [0] * n
        if flags is not None:
            flags[first, second] = flags[second, first] = True
            for vertex in range(n):
                packed = np.packbits(flags[vertex], bitorder="little").tobytes()
                self.beside[vertex] = int.from_bytes(packed, "little")
        else:
            for one, other in zip(first, second, strict=True):
                self.beside[one] |= 1 << other
                self.beside[other] |= 1 << one

    def clique(self, start: int, within: int) -> Clique:
        """Return a clique with `start` and others of `within`, to which none can be added.

        Each step takes the vertex that leaves most to choose from, of the first few.
        """
        clique, left = [start], self.beside[start] & within
        while left:
            best, most, rest = -1, -1, left
            for _ in range(_LOOKED_AT):
                if not rest:
                    break
                vertex = (rest & -rest).bit_length() - 1
                rest &= rest - 1
                leaves = (self.beside[vertex] & left).bit_count()
                if leaves > most:
                    best, most = vertex, leaves
            clique.append(best)
            left &= self.beside[best]
        return tuple(clique)


def heaviest_independent(
    n: int,
    edges: tuple[NDArray[np.int64], NDArray[np.int64]],
    weights: Sequence[int],
    *,
    program: bool = True,
    stage: Stage = QUIET,
) -> int:
    """Return a weight that no set of vertices without neighbours exceeds.

    Parameters
    ----------
    n : how many vertices
    edges : pairs of neighbours, below n
    weights : of the vertices, at least 0
    program : whether to use linear programs, where SciPy is there

    >>> triangle = (np.array([0, 0, 1]), np.array([1, 2, 2]))
    >>> heaviest_independent(4, triangle, [3, 4, 5, 2])
    7
    """
    # The lightest first, so that the lowest bit is the lightest.
    order = np.lexsort((np.arange(n), np.array(weights, dtype=object).astype(float)))
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    graph = Graph(n, place[edges[0]].tolist(), place[edges[1]].tolist())
    w = [int(weights[item]) for item in order.tolist()]
    prices = _greedy(graph, w, stage)
    best = _proven(prices, w)
    if best and program and len(edges[0]) and linear_programs():
        best = min(best, _programmed(graph, w, list(prices), stage))
    return best


def _proven(prices: dict[Clique, int], weights: Sequence[int], grain: int = 1) -> int:
    """Return the bound that prices of cliques, in parts of `grain`, prove; in whole units."""
    left = [grain * weight for weight in weights]
    for clique, price in prices.items():
        for vertex in clique:
            left[vertex] -= price
    return (sum(prices.values()) + sum(one for one in left if one > 0)) // grain


def _greedy(graph: Graph, weights: Sequence[int], stage: Stage) -> dict[Clique, int]:
    left = list(weights)
    alive = sum(1 << vertex for vertex, weight in enumerate(left) if weight > 0)
    prices: dict[Clique, int] = {}
    while alive:
        stage()
        start = (alive & -alive).bit_length() - 1
        clique = graph.clique(start, alive)
        price = min(left[vertex] for vertex in clique)
        prices[clique] = prices.get(clique, 0) + price
        for vertex in clique:
            left[vertex] -= price
            if not left[vertex]:
                alive ^= 1 << vertex
    return prices


def _programmed(graph: Graph, weights: Sequence[int], cliques: list[Clique], stage: Stage) -> int:
    """Return the bound of the linear program over cliques, with cuts for a few rounds."""
    import scipy.optimize
    import scipy.sparse

    # In units in which the weights are numbers of moderate size: HiGHS works in doubles.
    unit = max(max(weights) // _GRAIN, 1) if max(weights, default=0) > _GRAIN**2 else 1
    objective = np.array([-(weight / unit) for weight in weights])
    best = sum(weights)
    known = set(cliques)
    idle = work = 0
    for _ in range(_ROUNDS):
        stage()
        rows = np.repeat(np.arange(len(cliques)), [len(clique) for clique in cliques])
        columns = np.concatenate([np.array(clique) for clique in cliques])
        matrix = scipy.sparse.csr_matrix(
            (np.ones(len(rows)), (rows, columns)), shape=(len(cliques), graph.n)
        )
        solved: Any = scipy.optimize.linprog(
            objective, A_ub=matrix, b_ub=np.ones(len(cliques)), bounds=(0, 1), method="highs"
        )
        if solved.status != 0:
            break
        paid = np.maximum(-solved.ineqlin.marginals, 0)
        grains = [round(float(one) * _GRAIN) * unit for one in paid]
        prices = {c: one for c, one in zip(cliques, grains, strict=True) if one}
        proven = _proven(prices, weights, _GRAIN)
        gained, best = best - proven, min(best, proven)
        idle = 0 if gained * 1000 > best else idle + 1
        cuts = _violated(graph, solved.x, known, stage)
        work += len(rows)
        if not cuts or idle > 4 or work > _WORK:
            break
        if len(rows) > _LARGE:
            # What was not needed now is rarely needed later, and programs stay small without it.
            cliques = [c for c, one in zip(cliques, paid, strict=True) if one > 0]
        cliques += cuts
    return best


def _violated(
    graph: Graph, x: NDArray[np.float64], known: set[Clique], stage: Stage
) -> list[Clique]:
    """Return cliques of which the solution takes more than one vertex in all."""
    taken = [vertex for vertex in np.argsort(-x, kind="stable").tolist() if x[vertex] > 1e-6]
    within = sum(1 << vertex for vertex in taken)
    found: list[Clique] = []
    for start in taken:
        if len(found) >= _CLIQUES:
            break
        stage()
        clique, left = [start], graph.beside[start] & within
        while left:
            best = max(bits(left)[:_LOOKED_AT], key=lambda vertex: x[vertex])
            clique.append(best)
            left &= graph.beside[best]
        if sum(x[vertex] for vertex in clique) > 1 + 1e-6:
            whole = _completed(graph, clique)
            if whole not in known:
                known.add(whole)
                found.append(whole)
    return found


def _completed(graph: Graph, clique: list[int]) -> Clique:
    """Return the clique with what can be added to it, ascending: it holds more for the same."""
    left = graph.beside[clique[0]]
    for vertex in clique[1:]:
        left &= graph.beside[vertex]
    whole = list(clique)
    while left:
        vertex = (left & -left).bit_length() - 1
        whole.append(vertex)
        left &= graph.beside[vertex]
    return tuple(sorted(whole))
