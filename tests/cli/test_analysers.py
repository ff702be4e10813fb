"""The option --analyser of the commands that build an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis import Index


def test_build_declares_analysers(tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "searches.jsonl").write_text('{"id": "a", "expression": "title HAS \'jackets\'"}\n')
    (tmp_path / "words.txt").write_text("coat, jacket\n")
    (tmp_path / "shop.json").write_text(json.dumps({"base": "english", "synonyms": "words.txt"}))
    done = tamis(
        "build", str(tmp_path / "searches.jsonl"), "-o", str(tmp_path / "index"),
        "--analyser", f"title={tmp_path / 'shop.json'}", "--analyser", "body=german",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    index = Index.open(tmp_path / "index")
    assert index.match({"title": "A coat"}) == ["a"]
    assert index.info()["analysers"]["body"] == "german"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["title"], "takes ATTRIBUTE=NAME"),
        (["title=klingon"], "there is no analyser 'klingon'"),
        (["title=english", "title=german"], "twice"),
        (["title=none.json"], "cannot be read"),
    ],
)
def test_bad_analyser_is_refused(given: list[str], message: str, tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "searches.jsonl").write_text('{"id": "a", "expression": "title HAS \'x\'"}\n')
    options = [part for text in given for part in ("--analyser", text)]
    done = tamis("build", str(tmp_path / "searches.jsonl"), "-o", str(tmp_path / "index"), *options)
    assert done.exit_code != 0
    assert message in done.output
