"""Drawn figures: colours, labels, ticks and limits as a reader sees them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

import overcoat as oc
from overcoat.comparison import plots
from overcoat.comparison.drawing import HOLLOW
from overcoat.comparison.figures import sheets_of
from overcoat.comparison.looks import looks_of
from overcoat.comparison.plots import Panel, Point, draw, drawn_alone, save, series_of
from overcoat.data import samples
from overcoat.errors import OvercoatError

DATA = samples.baskets(300, 25, mean=4)
LABELS = DATA.vocabulary.labels
HIERARCHY = oc.Hierarchy.balanced(DATA.vocabulary, 3)
BASE = oc.Policy(3, (oc.AllItemsets(2),), hierarchy=HIERARCHY)
NAMED = oc.Policy(
    3,
    (oc.AllItemsets(2),),
    oc.Utility({"one": LABELS[:10], "other": LABELS[10:]}),
    hierarchy=HIERARCHY,
)
METHODS = ("coat", "pcta")


def line(*ys: float, hollow: bool = False) -> list[Point]:
    return [Point(k, y, hollow) for k, y in zip((2, 5, 10), ys, strict=False)]


def one(series: dict[str, list[Point]], **options: Any) -> Axes:
    (axes,) = draw([Panel(series, "part", "k", "AvgRE", **options)]).axes
    return axes


def marked(axes: Axes) -> dict[str, list[Any]]:
    """The drawn marks of each method."""
    found: dict[str, list[Any]] = {}
    for drawn in axes.lines:
        name = str(drawn.get_label())
        if not name.startswith("_") and len(np.asarray(drawn.get_xdata())):
            found.setdefault(name, []).append(drawn)
    return found


def places(drawn: list[Any]) -> Any:
    """Where marks are drawn, in pixels."""
    return np.array([mark.get_transform().transform(mark.get_xydata()[0]) for mark in drawn])


def heights(drawn: list[Any]) -> list[float]:
    return [mark.get_ydata()[0] for mark in drawn]


def widths(axes: Axes, name: str) -> list[float]:
    """Widths of the line of a method, and of its parts that others cover."""
    return [drawn.get_linewidth() for drawn in axes.lines if drawn.get_label() == f"_{name}"]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def labels(axes: Axes, side: str) -> list[str]:
    ticks = axes.get_xticklabels() if side == "x" else axes.get_yticklabels()
    return [tick.get_text() for tick in ticks if tick.get_text()]


def colours_and_markers(figure: Figure) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for axes in figure.axes:
        for name, drawn in marked(axes).items():
            looks = {(to_hex(mark.get_color()), mark.get_marker()) for mark in drawn}
            found.setdefault(name, set()).update(looks)
    return found


# ---- looks ----


def test_known_methods_look_different_and_can_be_read() -> None:
    known = looks_of(["coat", "apriori", "pcta", "greedy", "search", "exact"])
    assert len({look.colour for look in known.values()}) == 6
    assert len({look.marker for look in known.values()}) == 6
    for look in looks_of([*known, "a", "b", "c", "d"]).values():
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in to_rgb(look.colour)
        ]
        luminance = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
        assert 1.05 / (luminance + 0.05) >= 4.5  # contrast to white that text needs


def test_other_methods_keep_their_look_in_other_company() -> None:
    alone = looks_of(["mine"])["mine"]
    assert looks_of(["coat", "mine", "pcta"])["mine"] == alone
    several = looks_of(["mine", "yours", "theirs", "coat"])
    assert len(set(several.values())) == 4


def test_colour_means_the_method_whatever_is_swept() -> None:
    settings = oc.vary(BASE, algorithm=["pcta", "coat"], k=[2, 4, 6], s=[0, 1, 5])
    field = oc.compare(DATA, settings, q=[1])
    looks = looks_of(METHODS)
    expected = {name: {(looks[name].colour.lower(), looks[name].marker)} for name in METHODS}
    for name in ("error", "median", "loss"):
        assert colours_and_markers(field.plot(name)) == expected


# ---- panels ----


def test_a_second_sweep_becomes_panels_with_the_same_axes() -> None:
    settings = oc.vary(BASE, algorithm=METHODS, k=[2, 4, 6], s=[0, 1, 5])
    figure = oc.compare(DATA, settings, q=[1]).plot("error")
    assert [texts(axes)[-1].splitlines()[0] for axes in figure.axes] == [
        "s = 0 %",
        "s = 1 %",
        "s = 5 %",
    ]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert len({round(axes.get_position().y0, 6) for axes in figure.axes}) == 1  # side by side
    for axes in figure.axes:
        assert {drawn.get_linestyle() for drawn in axes.lines} <= {"-", "None"}
        assert sorted(marked(axes)) == ["coat", "pcta"]


def test_a_third_sweep_becomes_rows_of_panels() -> None:
    settings = oc.vary(BASE, algorithm=METHODS, k=[2, 4, 6], s=[0, 5], m=[1, 2])
    field = oc.compare(DATA, settings, q=[1])
    (error, *_) = sheets_of(field)
    assert error.columns == 2
    assert [panel.title.splitlines()[0] for panel in error.panels] == [
        "m = 1, s = 0 %",
        "m = 1, s = 5 %",
        "m = 2, s = 0 %",
        "m = 2, s = 5 %",
    ]


def test_numbers_go_along_x_and_policies_become_panels() -> None:
    policies = {"strict": BASE, "loose": oc.Policy(2, (oc.AllItemsets(1),), hierarchy=HIERARCHY)}
    field = oc.compare(DATA, oc.vary(policies, k=[2, 4]), q=[1])
    (error, *_) = sheets_of(field)
    assert [panel.title.splitlines()[0] for panel in error.panels] == ["strict", "loose"]
    assert {panel.x for panel in error.panels} == {"k"}


def test_a_panel_without_runs_keeps_its_place() -> None:
    panels = [Panel(series, "", "k", "y") for series in ({"coat": line(1, 2, 3)}, {})]
    assert "no run" in texts(draw(panels).axes[1])


def test_panels_alone_have_the_axes_of_all() -> None:
    panels = [
        Panel({"coat": line(1, 2, 3)}, "a", "k", "y"),
        Panel({"pcta": line(10, 20, 300)}, "b", "k", "y"),
    ]
    together = draw(panels)
    assert together.axes[0].get_ylim() == together.axes[1].get_ylim()
    svgs = drawn_alone(panels)
    assert len(svgs) == 2
    assert all(b"<svg" in svg for svg in svgs)
    assert svgs == drawn_alone(panels)


# ---- lines that meet ----


def test_equal_lines_are_both_seen() -> None:
    axes = one({"coat": line(3, 3, 3), "pcta": line(3, 3, 3), "apriori": line(9, 8, 7)})
    at = {name: places(drawn) for name, drawn in marked(axes).items()}
    assert np.all(at["pcta"][:, 0] - at["coat"][:, 0] > 3)  # side by side
    assert np.allclose(at["pcta"][:, 1], at["coat"][:, 1])  # and at their height
    whole, *parts = widths(axes, "coat")
    assert len(parts) == 2  # both parts of the line are covered, and thicker than what covers them
    assert min(parts) > 2 * whole
    assert widths(axes, "pcta") == widths(axes, "apriori") == [whole]
    assert {"coat", "pcta", "apriori"} <= set(texts(axes))


def test_marks_that_do_not_meet_stay_where_they_are() -> None:
    axes = one({"coat": line(3, 3, 3), "pcta": line(3, 9, 5)})
    for method in METHODS:
        drawn = places(marked(axes)[method])
        true = axes.transData.transform([(k, 0) for k in (2, 5, 10)])
        assert abs(drawn[0, 0] - true[0, 0]) > 1
        assert drawn[1:, 0] == pytest.approx(true[1:, 0])
    assert widths(axes, "coat") == widths(axes, "pcta")


def test_names_at_the_ends_do_not_touch() -> None:
    axes = one({name: line(1, 2, 3 + n / 1e6) for n, name in enumerate(("coat", "pcta", "x"))})
    names: list[Any] = [text for text in axes.texts if text.get_text() in ("coat", "pcta", "x")]
    heights = sorted(text.xyann[1] for text in names)
    assert np.diff(heights).min() > 0.07
    assert heights[-1] <= 1
    looks = looks_of(["coat", "pcta", "x"])
    assert {t.get_text(): t.get_color() for t in names} == {n: looks[n].colour for n in looks}


# ---- hollow marks ----


def test_hollow_marks_are_explained_in_the_picture() -> None:
    rows = [
        {"algorithm": "greedy", "k": k, "ncp": 0.5, "status": status}
        for k, status in ((2, "met"), (5, "beyond s"), (10, "met"))
    ]
    figure = draw([Panel(series_of(rows, "k", "ncp"), "", "k", "NCP")])
    fills = {
        round(mark.get_xdata()[0]): mark.get_mfc() for mark in marked(figure.axes[0])["greedy"]
    }
    assert fills == {2: "#A8428A", 5: "white", 10: "#A8428A"}
    assert HOLLOW == "hollow: beyond s, cannot be published"
    assert [text.get_text() for text in figure.texts] == [f"○ {HOLLOW}"]


def test_nothing_is_explained_where_nothing_is_hollow() -> None:
    assert not draw([Panel({"coat": line(1, 2)}, "", "k", "NCP")]).texts


# ---- axes ----


@pytest.mark.parametrize(
    "ys",
    [(0.56901, 0.56902, 0.569), (0, 0, 0.01), (3, 40, 41), (1, 5, 9), (0, 0.5, 900), (1e-5, 2, 9)],
)
@pytest.mark.parametrize("log", [False, True])
def test_every_axis_of_a_measure_has_three_ticks_or_more(ys: tuple[float, ...], log: bool) -> None:
    axes = one({"coat": line(*ys)}, log_y=log, least=0.1)
    low, high = axes.get_ylim()
    assert len(labels(axes, "y")) >= 3
    assert low <= min(ys) <= max(ys) <= high
    if axes.get_yscale() == "linear":
        assert low == 0
    assert not len(axes.yaxis.get_minor_locator()())


def test_one_scale_for_panels_of_one_measure() -> None:
    narrow, wide = {"coat": line(1, 2, 3)}, {"coat": line(1, 30, 900)}
    figure = draw([Panel(some, "", "k", "AvgRE", log_y=True) for some in (narrow, wide)])
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    assert {axes.get_title(loc="left") for axes in figure.axes} == {"AvgRE (log scale)"}
    figure = draw([Panel(some, "", "k", y, log_y=True) for some, y in ((narrow, "a"), (wide, "b"))])
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log"]


def test_every_value_of_a_sweep_is_labelled() -> None:
    series = {"coat": [Point(k, 1.0) for k in (2, 5, 10, 25, 50)]}
    (axes,) = draw([Panel(series, "", "k", "y")]).axes
    assert labels(axes, "x") == ["2", "5", "10", "25", "50"]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "k (log scale)")


def test_names_on_x_stand_apart() -> None:
    series = {name: [Point("PP1", 1.0), Point("PP2", 2.0)] for name in ("coat", "pcta")}
    (axes,) = draw([Panel(series, "", "policy", "y")]).axes
    assert labels(axes, "x") == ["PP1", "PP2"]
    at = {name: places(drawn)[:, 0] for name, drawn in marked(axes).items()}
    assert np.all(at["pcta"] - at["coat"] > 3)


def test_one_value_is_a_bar_for_each_method() -> None:
    series = {"coat": [Point(5, 0.2)], "pcta": [Point(5, 0.5, hollow=True)]}
    (axes,) = draw([Panel(series, "", "k", "NCP", least=0.1)]).axes
    assert not axes.lines
    bars: list[Any] = list(axes.patches)
    assert [bar.get_width() for bar in bars] == [0.2, 0.5]
    assert to_hex(bars[0].get_facecolor()) == looks_of(["coat"])["coat"].colour.lower()
    assert to_hex(bars[1].get_facecolor()) == "#ffffff"
    assert labels(axes, "y") == ["coat", "pcta"]
    assert axes.get_xlim()[0] == 0
    assert len(labels(axes, "x")) >= 3
    assert {"0.2", "0.5"} <= set(texts(axes))


def test_bars_never_start_above_zero() -> None:
    series = {"coat": [Point(5, 0.2)], "pcta": [Point(5, 50.0)]}
    (axes,) = draw([Panel(series, "", "k", "AvgRE", log_y=True)]).axes
    assert axes.get_xscale() == "log"
    assert not axes.patches  # dots: the length of a bar would mean nothing
    assert sum(drawn.get_marker() in ("o", "^") for drawn in axes.lines) == 2


# ---- what a comparison shows ----


def test_exact_counts_and_medians_have_panels() -> None:
    field = oc.compare(DATA, oc.vary(NAMED, algorithm=METHODS, k=[2, 4]), q=[1, 2])
    titles = {
        name: [axes.get_title(loc="left").partition(" (")[0] for axes in field.plot(name).axes]
        for name in ("error", "median", "loss")
    }
    assert titles["error"] == ["AvgRE"] * 2
    assert titles["median"] == ["median RE"] * 2
    assert titles["loss"][0] == "exact counts"
    counts = field.plot("loss").axes[0]
    assert counts.get_ylim() == (0, 2)
    assert "of 2 utility sets" in texts(counts)
    expected = [row["n_exact_counts"] for row in field.rows if row["algorithm"] == "coat"]
    assert heights(marked(counts)["coat"]) == expected


def test_without_utility_sets_no_exact_counts() -> None:
    field = oc.compare(DATA, oc.vary(BASE, k=[2, 4]), q=[1])
    titles = [axes.get_title(loc="left") for axes in field.plot("loss").axes]
    assert titles == ["NCP", "UL, bits above the least"]  # and nothing was suppressed


def test_ul_is_shown_in_bits_above_the_least() -> None:
    field = oc.compare(DATA, oc.vary(BASE, algorithm=METHODS, k=[2, 6]), q=[1])
    axes = field.plot("loss").axes[-1]
    losses = {(row["algorithm"], row["k"]): row["log2_ul"] for row in field.rows}
    (name, k), least = min(losses.items(), key=lambda entry: entry[1])
    text = texts(axes)[-1].replace("\n", " ")
    assert f"least log2 UL, {least:.0f}: {name}, k = {k}." in text
    assert "One bit more: UL is twice as large." in text
    for method in METHODS:
        expected = [losses[method, k] - least for k in (2, 6)]
        assert heights(marked(axes)[method]) == pytest.approx(expected)
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] >= 10


def test_time_is_not_drawn_since_it_is_measured_once() -> None:
    field = oc.compare(DATA, oc.vary(BASE, k=[2, 4]), q=[1])
    assert {sheet.name for sheet in sheets_of(field)} == {"error", "median", "loss"}
    assert not [panel for sheet in sheets_of(field) for panel in sheet.panels if "time" in panel.y]


def test_s_on_an_axis_is_suppression() -> None:
    field = oc.compare(DATA, oc.vary(BASE, s=[0, 5]), q=[1])
    assert {axes.get_xlabel() for axes in field.plot("error").axes} == {"s %"}


def test_figures_that_are_not_there() -> None:
    field = oc.compare(DATA, oc.vary(oc.Policy(1, (oc.AllItemsets(1),))), q=[1])
    with pytest.raises(oc.PolicyError, match="the figure loss would be empty"):
        field.plot("loss")
    with pytest.raises(oc.PolicyError, match="no figure 'time'; there is error, median, loss"):
        field.plot("time")  # type: ignore[arg-type]


# ---- files and notebooks ----


def test_a_notebook_shows_a_figure_by_itself() -> None:
    field = oc.compare(DATA, oc.vary(BASE, k=[2, 4]), q=[1])
    assert "<svg" in field.plot()._repr_svg_()  # type: ignore[attr-defined]


def test_the_same_figure_gives_the_same_files(tmp_path: Path) -> None:
    panel = Panel({"coat": line(1, 2, 3)}, "", "k", "y")
    first = [path.read_bytes() for path in save(draw([panel]), tmp_path, "x")]
    assert [path.read_bytes() for path in save(draw([panel]), tmp_path, "x")] == first


def test_names_are_no_formulas(tmp_path: Path) -> None:
    points = [Point(r"$\frac$", 1.0), Point("b", 2.0)]
    save(draw([Panel({r"$x_$": points}, r"$\bad$", "$x$", r"$\y$")]), tmp_path, "x")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "can_draw", lambda: False)
    with pytest.raises(OvercoatError, match=r"pip install 'overcoat\[plots\]'"):
        draw([Panel({"coat": line(1, 2)}, "", "k", "y")])
