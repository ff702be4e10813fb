"""Turn measured papers into sections of the page: plots, claims with answers, tables, how to repeat it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from bench.figures import draw
from bench.figures.page import Section, table
from bench.figures.spec import Answer, Figure, Panel, Paper, Series
from bench.figures.verdicts import FAILS, HOLDS, OPEN, ORDER
from bench.figures.words import MEASURES, number

_SIGNS = {HOLDS: ("✓", "holds"), ORDER: ("≈", "order"), FAILS: ("✗", "not"), OPEN: ("–", "open")}
Results = Mapping[str, Any]


def sections(papers: Sequence[Paper], results: Results, scale: int) -> list[Section]:
    """Return a summary of all claims, then a page per paper."""
    answers = {
        paper.name: [figure.answers(figure.series(results)) for figure in paper.figures] for paper in papers
    }
    pages = [
        Section(paper.name, paper.title, _paper(paper, answers[paper.name], results, scale))
        for paper in papers
    ]
    return [Section("claims", "Papers, redrawn", _summary(papers, answers, results)), *pages]


def _summary(papers: Sequence[Paper], answers: dict[str, list[list[Answer]]], results: Results) -> str:
    rows = []
    for paper in papers:
        found = Counter(answer.verdict for figure in answers[paper.name] for answer in figure)
        drawn = sum(bool(figure.panels) for figure in paper.figures)
        rows.append(
            [paper.title, f"{drawn} of {len(paper.figures)}", *(str(found[verdict]) for verdict in _SIGNS)]
        )
    intro = (
        "<p>The figures of five papers, drawn anew with our engines on one machine. Compare "
        "shapes and factors, not times: the papers used other machines and languages. Every engine of a "
        "point matched the same data and had to find the same pairs. <b>hybrid</b> is our own engine; the "
        "others are the papers'.</p><p>Under each figure stand the paper's claims in our words, each with "
        "the measurement here. A claim of a size holds if the order is right and our factor is at least half "
        "of the paper's. With a smaller factor it holds in order only. A claim of an order or a trend holds "
        "or does not.</p>"
    )
    return "".join(
        [
            intro,
            table(("paper", "drawn", *_SIGNS), rows),
            _machine(results),
            _REPEAT,
            *_claims_by_verdict(papers, answers),
        ]
    )


_REPEAT = (
    "<p>Repeat everything: <code>python -m bench figures</code>. Measured points are kept, and "
    "<code>--redraw</code> only draws.</p>"
)


def _claims_by_verdict(papers: Sequence[Paper], answers: dict[str, list[list[Answer]]]) -> Iterator[str]:
    """Yield all claims once more, by verdict, with links to their figures."""
    for verdict in _SIGNS:
        items = [
            f'<li><a href="#{name}">{escape(paper.title)}, {escape(figure.name)}</a> '
            f'{escape(claim.text)} <span class="quiet">{escape(answer.text)}</span></li>'
            for paper in papers
            for (name, figure), found in zip(paper.named().items(), answers[paper.name], strict=True)
            for claim, answer in zip(figure.claims, found, strict=True)
            if answer.verdict == verdict
        ]
        if items:
            name = f"{_SIGNS[verdict][0]} {verdict}: {len(items)}"
            yield f"<details><summary>{escape(name)}</summary><ul>{''.join(items)}</ul></details>"


def _machine(results: Results) -> str:
    """Return a description of the machine on which the points were measured."""
    known = [result for result in results.values() if "machine" in result]
    if not known:
        return ""
    machine, versions = known[-1]["machine"], known[-1]["versions"]
    spent = sum(result["seconds"] for result in known) / 60
    software = ", ".join(f"{name} {number}" for name, number in versions.items())
    text = (
        f"{len(known)} points, measured in {spent:.0f} minutes on {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory_gb']} GB; one core was used. {software}; commit "
        f"{known[-1].get('commit')}."
    )
    return f'<p class="quiet">{escape(text)}</p>'


def _paper(paper: Paper, answers: list[list[Answer]], results: Results, scale: int) -> str:
    index = "".join(
        f'<li><a href="#{name}">{escape(figure.name)}</a></li>' for name, figure in paper.named().items()
    )
    small = f" Here everything is {scale} times smaller." if scale > 1 else ""
    articles = (
        _figure(name, figure, found, results, scale)
        for (name, figure), found in zip(paper.named().items(), answers, strict=True)
    )
    return f'<p>{escape(paper.about + small)}</p>\n<ul class="index">{index}</ul>\n' + "\n".join(articles)


def _figure(name: str, figure: Figure, answers: list[Answer], results: Results, scale: int) -> str:
    title = f"<h3>{escape(figure.name)}. {escape(figure.title)}</h3>"
    opening = f'<article id="{name}">{title}'
    if not figure.panels:
        return f"{opening}<p>Not drawn: {escape(figure.reason)}</p></article>"
    data = figure.series(results)
    parts = [_drawn(figure, data), _claims(figure, answers)]
    texts = (f"The paper: {figure.shape}" if figure.shape else "", figure.note)
    parts += [f'<p class="quiet">{escape(text)}</p>' for text in texts if text]
    parts.append(_tables(figure, data))
    sizes, repeat = escape(sizes_of(figure)), escape(command_for(name, scale))
    parts.append(f'<p class="quiet">{sizes}. Repeat: <code>{repeat}</code></p>')
    return opening + "\n".join(parts) + "</article>"


def command_for(name: str, scale: int) -> str:
    """Return the command that measures and draws the figure called ``name``."""
    return f"python -m bench figures {name}" + (f" --scale {scale}" if scale > 1 else "")


def sizes_of(figure: Figure) -> str:
    """Return the workloads of a figure, and the numbers of subscriptions."""
    counts = sorted({job.subscriptions for job in figure.jobs()})
    names = sorted({job.workload for job in figure.jobs()})
    span = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    return f"{', '.join(names)}, {span} {'intervals' if names == ['intervals'] else 'subscriptions'}"


def _drawn(figure: Figure, data: list[dict[str, Series]]) -> str:
    """Return the plots with one legend; panels that are tables become tables."""
    pairs = list(zip(figure.panels, data, strict=True))
    plotted = [(panel, curves) for panel, curves in pairs if panel.kind == "lines"]
    labels = dict.fromkeys(label for _, curves in plotted for label, values in curves.items() if values)
    items = "".join(f"<li>{svg}{escape(label)}</li>" for label, svg in draw.legend(labels))
    shown = "".join(_plot(panel, curves) for panel, curves in pairs)
    wide = " wide" if any(panel.kind == "stacked" for panel in figure.panels) else ""
    return (f'<ul class="legend">{items}</ul>' if items else "") + f'<div class="plots{wide}">{shown}</div>'


def _plot(panel: Panel, curves: dict[str, Series]) -> str:
    title = f"<figcaption>{escape(panel.title)}</figcaption>"
    if not any(curves.values()):
        return f"<figure>{title}<p>Not measured yet.</p></figure>"
    y_label, ticks = MEASURES.get(panel.measure, panel.measure), dict(panel.ticks)
    if panel.kind == "table":
        return f"<figure>{title}{_values(panel, curves)}</figure>"
    if panel.kind == "stacked":
        return f"<figure>{title}{draw.stacked(curves, x_label=y_label, ticks=ticks)}</figure>"
    svg = draw.lines(
        curves,
        x_label=panel.x_label,
        y_label=y_label,
        log_x=panel.log_x,
        log_y=panel.log_y,
        ticks=ticks,
        legend=False,
    )
    return f"<figure>{title}{svg}</figure>"


def _claims(figure: Figure, answers: list[Answer]) -> str:
    items = []
    for claim, answer in zip(figure.claims, answers, strict=True):
        sign, name = _SIGNS[answer.verdict]
        mark = f'<span class="verdict {name}">{sign} {escape(answer.verdict)}</span>'
        here = escape(answer.text).replace("here: ", "here: <b>", 1)
        first, _, rest = here.partition(";")
        items.append(f'<li>{mark}<span>{escape(claim.text)}</span><span class="here">{first}</b>')
        items.append(f"{';' + rest if rest else ''}</span>")
        why = f'<span class="here">{escape(claim.why)}</span>' if answer.verdict in (ORDER, FAILS) else ""
        items.append(f"{why}</li>")
    return f'<ul class="claims">{"".join(items)}</ul>'


def _tables(figure: Figure, data: list[dict[str, Series]]) -> str:
    plotted = [
        (panel, curves) for panel, curves in zip(figure.panels, data, strict=True) if panel.kind != "table"
    ]
    if not plotted:
        return ""
    inner = "".join(_values(panel, curves, caption=panel.title) for panel, curves in plotted)
    return f"<details><summary>The numbers</summary>{inner}</details>"


def _values(panel: Panel, curves: dict[str, Series], caption: str = "") -> str:
    """Return a row per curve, a column per place."""
    places = list(dict.fromkeys(x for values in curves.values() for x in values))
    names = dict(panel.ticks)
    heads = [names.get(x, x if isinstance(x, str) else f"{x:,g}" if x < 1e6 else f"{x:,.0f}") for x in places]
    rows = [
        [label, *(number(values[x]) if x in values else "–" for x in places)]
        for label, values in curves.items()
    ]
    return table((MEASURES.get(panel.measure, panel.measure), *heads), rows, caption)
