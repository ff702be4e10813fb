"""Write the report of an import as a web page that needs no other file and no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from tamis.rules.imported import Imported, Refused, Rule

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d7dbe0; --soft: #f4f6f8; --bar: #2f6f4f; --warn: #b7791f; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --paper: #16191d; --line: #353b42; --soft: #1f242a; --bar: #58b087; --warn: #e0a94a; --bad: #f2867c; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.bar { display: flex; height: .9rem; border-radius: .3rem; overflow: hidden; background: var(--soft); }
.bar i { display: block; } .imported { background: var(--bar); } .different { background: var(--warn); } .refused { background: var(--bad); }
ul.counts { list-style: none; padding: 0; display: flex; gap: 1.5rem; flex-wrap: wrap; }
ul.counts b { font-size: 1.3rem; } ul.counts span { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .4rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: var(--paper); } td { overflow-wrap: anywhere; } td.place { font-size: .85rem; min-width: 12rem; }
code { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; } details summary { cursor: pointer; }
input { font: inherit; padding: .35rem .6rem; width: min(30rem, 100%); border: 1px solid var(--line); border-radius: .3rem; background: var(--soft); color: inherit; }
"""  # noqa: E501
_SCRIPT = """
const box = document.getElementById("find"), rows = [...document.querySelectorAll("#imported tbody tr")];
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
});
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_SHOWN = 12  # reasons in the summary table


def html_report(found: Imported) -> str:
    """Return the page."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Import of {escape(found.format)} rules</title><style>{_STYLE}</style></head><body>",
            f"<h1>Import of {escape(found.format)} rules</h1>",
            *_summary(found),
            *_reasons("Refused, by reason", [one.error.message for one in found.refused]),
            *_refused(found.refused),
            *_reasons("Differences", [text for rule in found.rules for text in rule.differences]),
            *_imported(found.rules),
            f"<script>{_SCRIPT}</script></body></html>",
        ]
    )


def _summary(found: Imported) -> list[str]:
    counts = found.summary()
    names = {"imported": "imported", "with_difference": "different", "refused": "refused"}
    words = {"imported": "imported", "with_difference": "imported with a difference", "refused": "refused"}
    bar = "".join(f'<i class="{names[key]}" style="flex: {counts[key]}"></i>' for key in names)
    items = "".join(
        f'<li><span class="{names[key]}"></span><b>{counts[key]:,}</b> {words[key]}</li>' for key in names
    )
    return [
        f'<div class="bar">{bar}</div>',
        f'<ul class="counts"><li>of <b>{counts["rules"]:,}</b> rules</li>{items}</ul>',
    ]


def _reasons(title: str, texts: list[str]) -> list[str]:
    """Return a table of the most frequent texts."""
    if not texts:
        return []
    counted = Counter(texts).most_common()
    rows = [(f"{count:,}", escape(text)) for text, count in counted[:_SHOWN]]
    if len(counted) > _SHOWN:
        rows.append((f"{sum(count for _, count in counted[_SHOWN:]):,}", "others"))
    return [f"<h2>{title}</h2>", *_table(("rules", "reason"), rows)]


def _refused(refused: list[Refused]) -> list[str]:
    if not refused:
        return []
    rows = [
        (
            escape(one.title or one.id),
            escape(one.error.message),
            f"<code>{one.error.code}</code>",
            escape(str(one.place)),
        )
        for one in refused
    ]
    return ["<h2>Refused rules</h2>", *_table(("rule", "reason", "code", "place"), rows)]


def _imported(rules: list[Rule]) -> list[str]:
    rows = []
    for rule in rules:
        about = ", ".join(escape(text) for text in _about(rule.metadata))
        stated = "".join(f"<br>{escape(text)}" for text in rule.differences)
        expression = f"<details><summary>expression</summary><code>{escape(rule.text)}</code></details>"
        rows.append(
            (
                f"{escape(rule.title or rule.id)}<br><small>{about}</small>",
                expression + stated,
                escape(str(rule.place)),
            )
        )
    box = '<input id="find" type="search" placeholder="Find in title, author, tag, expression">'
    return [
        f"<h2>Imported rules</h2><p>{box}</p>",
        '<div id="imported">',
        *_table(("rule", "expression and differences", "place"), rows),
        "</div>",
    ]


def _about(metadata: dict[str, Any]) -> list[str]:
    """Return level, author and tags; licences such as that of Sigma's rules ask for the author."""
    found = [str(metadata[key]) for key in ("level", "author") if metadata.get(key)]
    tags = metadata.get("tags")
    return found + ([str(tag) for tag in tags] if isinstance(tags, list) else [])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = ["<table><thead><tr>", *(f"<th>{name}</th>" for name in head), "</tr></thead><tbody>"]
    for row in rows:
        cells = [f'<td class="{name}">{cell}</td>' for name, cell in zip(head, row, strict=True)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return [*lines, "</tbody></table>"]
