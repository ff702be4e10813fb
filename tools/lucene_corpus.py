"""Ask Lucene which documents its queries find: ``python tools/lucene_corpus.py check`` or ``write``.

``tests/language/lucene/cases.jsonl`` holds the queries with Lucene's verdicts: ``found`` has a 1 for each of
the documents in ``documents.jsonl`` that Lucene's classic query parser and its MemoryIndex find. It is
``error`` if the parser refuses the query. ``check`` compares the verdicts, ``write`` replaces them. Maven and
Java 17 are needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "language" / "lucene"
BUILT = ROOT / "build" / "lucene"


def verdicts(documents: Iterable[dict[str, str]], cases: Iterable[dict[str, Any]]) -> list[str]:
    """Return Lucene's verdict on each case."""
    command = ["mvn", "-q", "-B", "-f", str(ROOT / "tools" / "lucene"), f"-Dwhere={BUILT}", "compile"]
    command += ["dependency:copy-dependencies", f"-DoutputDirectory={BUILT / 'libraries'}"]
    subprocess.run([*command, "-DincludeScope=runtime"], check=True)
    lines = [
        _line("document", *(part for pair in document.items() for part in pair)) for document in documents
    ]
    for case in cases:
        fields = ",".join(case.get("fields", ["text"]))
        lines.append(_line("query", case.get("operator", "OR"), fields, case["query"]))
    path = f"{BUILT / 'classes'}{os.pathsep}{BUILT / 'libraries' / '*'}"
    java = ["java", "-cp", path, "tamis.lucene.Verdicts"]
    answer = subprocess.run(java, input="\n".join(lines), capture_output=True, check=True, encoding="utf-8")
    return answer.stdout.split()


def _line(kind: str, *parts: str) -> str:
    return "\t".join([kind, *map(quote_plus, parts)])


def read(name: str) -> list[dict[str, Any]]:
    """Return the objects of a file of the corpus."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def main(arguments: list[str]) -> int:
    """Check or write the verdicts; return 1 if they differ."""
    if arguments not in (["check"], ["write"]):
        print(__doc__)
        return 2
    cases = read("cases.jsonl")
    found = verdicts(read("documents.jsonl"), cases)
    changed = 0
    for case, verdict in zip(cases, found, strict=True):
        if case.get("found") != verdict:
            changed += 1
            print(f"{case['query']}: {case.get('found')} is {verdict}")
            case["found"] = verdict
    if arguments == ["write"]:
        text = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
        (FOLDER / "cases.jsonl").write_text(text, encoding="utf-8")
    print(f"{len(cases)} cases, {changed} differ")
    return int(bool(changed) and arguments == ["check"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
