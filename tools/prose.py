"""Find sentences that a reader must decode: a clause as the subject, or a docstring without a verb.

``python tools/prose.py`` prints the rate for 1,000 words of docs and of docstrings and fails above the limit;
``--list`` prints every sentence that counts, with its place; paths limit the search.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LIMIT = 0.3  # sentences for 1,000 words
CODE = ("src", "bench", "tools")
_OPENERS = r"(?:What(?:ever)?|Who(?:ever|m|se)?|Which(?:ever)?|How|Why|That which|Those who)"
_CLAUSE = re.compile(rf"^{_OPENERS}\b(?![^.!?]*\?)")
_INNER = re.compile(r"(?:;|:|—|–) (?:what|whoever|who|whatever)\b(?![^.!?;]*\?)")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"'(])")


class Passage(NamedTuple):
    """Running text and the place where it begins."""

    place: str
    text: str


def passages_of_page(path: Path) -> Iterator[Passage]:
    """Yield the paragraphs, list items and table cells of a Markdown page, without code and headings."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.M | re.S)
    block: list[str] = []
    start = 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_item = re.match(r"\s*(?:[-*+]|\d+\.) ", line)
        if not line.strip() or line.startswith(("#", "|", ">>>")) or is_item:
            if block:
                yield Passage(f"{path}:{start}", " ".join(block))
            block, start = [], number
            if line.startswith("|"):
                yield from (Passage(f"{path}:{number}", cell.strip()) for cell in line.split("|"))
            if not is_item:
                continue
            line = line[is_item.end() :]
        if not block:
            start = number
        block.append(line.strip())


def passages_of_module(path: Path) -> Iterator[Passage]:
    """Yield the paragraphs of every docstring and comment of a module."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node)
            at = node.body[0].lineno if doc else 0
            for paragraph in re.split(r"\n\s*\n", doc or ""):
                if not paragraph.startswith((" ", "::")):
                    yield Passage(f"{path}:{at}", " ".join(paragraph.split()))
    for number, line in enumerate(source.split("\n"), 1):
        comment = re.match(r"\s*# (.*)", line)
        if comment:
            yield Passage(f"{path}:{number}", comment[1])


def faults_of(passage: Passage) -> Iterator[str]:
    """Yield the sentences of a passage whose subject is a clause."""
    for sentence in _SENTENCE.split(passage.text):
        bare = sentence.lstrip("*_`\"'( ")
        if _CLAUSE.match(bare) or _INNER.search(sentence):
            yield sentence


def words_in(text: str) -> int:
    """Return the number of words of a text."""
    return len(re.findall(r"[A-Za-z][A-Za-z'-]*", text))


def main() -> int:
    """Print the rates; return 1 if one is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    pages = [page for root in chosen.paths or [Path()] for page in _pages(root)]
    modules = [module for root in chosen.paths or map(Path, CODE) for module in _modules(root)]
    status = 0
    for name, passages in (
        ("docs", [p for page in sorted(pages) for p in passages_of_page(page)]),
        (
            "docstrings and comments",
            [p for m in sorted(modules) for p in passages_of_module(m)],
        ),
    ):
        faults = [(p.place, fault) for p in passages for fault in faults_of(p)]
        words = sum(words_in(p.text) for p in passages)
        rate = 1000 * len(faults) / max(words, 1)
        if chosen.list:
            print(*(f"{place}: {fault[:160]}" for place, fault in faults), sep="\n")
        print(f"{name}: {len(faults)} in {words} words, {rate:.2f} for 1,000")
        status |= rate > LIMIT
    return status


def _modules(root: Path) -> list[Path]:
    return list(root.rglob("*.py")) if root.is_dir() else [root] if root.suffix == ".py" else []


def _pages(root: Path) -> list[Path]:
    if root.is_file():
        return [root] if root.suffix == ".md" else []
    if root == Path():
        return [
            *root.glob("*.md"),
            *root.glob("docs/**/*.md"),
            *root.glob("src/**/*.md"),
            *root.glob("bench/**/*.md"),
        ]
    return list(root.rglob("*.md"))


if __name__ == "__main__":
    sys.exit(main())
