"""Test a contest: peers that lie, die or are too small, and the verdicts on the goals."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.__main__ import main
from bench.peers import contest, judge, known, programs, protocol
from bench.peers.contest import Contest, Row
from bench.peers.known import PEERS, Known
from bench.peers.protocol import Done, Failed
from tests.waiting import PATIENCE

N = 400


def script(folder: Path, name: str, text: str) -> Known:
    """Return a peer that is a few lines of Python."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return Known(name, lambda: [sys.executable, str(path)], "made up")


LIAR = """
import sys
from pathlib import Path
from bench.peers import worker
file, answers, subscriptions, budget = sys.argv[1:]
worker.main(["eval", *sys.argv[1:]])
lines = Path(answers).read_text().splitlines()
at = next(at for at, line in enumerate(lines) if line)
lines[at] = " ".join(lines[at].split()[1:] + ["399"])
Path(answers).write_text("".join(line + "\\n" for line in lines))
"""


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["peers", *arguments])


def test_command_fails_and_shows_wrong_and_crashed_peers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dead = script(tmp_path, "dead", "raise SystemExit('no room left')")
    nowhere = Known("nowhere", partial(programs._needs, "no-such-program", "it"), "")  # type: ignore[arg-type]
    peers = {"eval": PEERS["eval"], "liar": script(tmp_path, "liar", LIAR), "dead": dead, "nowhere": nowhere}
    monkeypatch.setattr(known, "PEERS", peers)
    report = tmp_path / "peers.json"
    result = invoke("--mixes", "mixed", "-n", str(N), "-m", "20", "--budget", "0.5", "--json", str(report))
    assert result.exit_code == 1, result.output
    assert "answers differ" in result.output
    assert "only liar finds [399], only tamis finds [" in result.output
    assert "at 400: no room left" in result.stdout
    assert "not run: there is no no-such-program here" in result.stdout
    rows = {row["peer"]: row for row in json.loads(report.read_text(encoding="utf-8"))["results"]}
    assert set(rows) == {"tamis", "tamis-batch", *peers}
    assert rows["eval"]["ratio"] > 0
    assert not rows["eval"]["difference"]
    assert rows["eval"]["fingerprint"] == rows["tamis"]["fingerprint"] == rows["tamis-batch"]["fingerprint"]
    assert rows["dead"]["ratio"] is None


@pytest.mark.parametrize(
    ("arguments", "listed"),
    [(("--peers", "drools"), "rule-engine, json-logic, eval"), (("--mixes", "w4"), "equal, mixed, ranges")],
)
def test_unknown_name_is_refused_with_the_known_ones(arguments: tuple[str, ...], listed: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "is not one of" in result.output
    assert listed in result.output


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import time; time.sleep(10_000)", "no answer in 0 s"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
        ("raise MemoryError", "out of memory"),
        ("1 / 0", "ZeroDivisionError"),
        ("print('hello')", "it answered 'hello'"),
        (
            'import sys; open(sys.argv[2], "w"); print(\'{"events": 2, "us_per_event": 1}\')',
            "promised answers to 2 events and gave 0",
        ),
    ],
)
def test_row_names_the_reason_when_a_peer_fails(
    text: str, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(protocol, "PATIENCE_S", 0.3 if "sleep" in text else PATIENCE)
    peer = script(tmp_path, "bad", text)
    with pytest.raises(Failed, match=why):
        protocol.run(peer.command(), tmp_path / "none", 10, 0.001)


def test_peer_is_measured_with_fewer_subscriptions_when_it_cannot_take_all() -> None:
    def run(command: list[str], _file: Path, size: int, _budget: float) -> Done:
        if command == ["small"] and size > 1_000:
            raise Failed("out of memory")
        us = 7.0 if command == ["small"] else size / 1_000
        return Done({"subscriptions": size, "events": 1, "us_per_event": us}, [[5, size - 1]])

    def answers_of_tamis(command: list[str], file: Path, size: int, budget: float) -> Done:
        done = run(command, file, size, budget)
        return done if command == ["small"] else replace(done, answers=[[5, 999, 99_999]])

    stage = Contest("m", Path("f"), 100_000, 1.0, answers_of_tamis)
    row = stage.row(Known("small", lambda: ["small"], "a remark"))
    assert (row.figures["subscriptions"], row.ratio, row.difference) == (1_000, 7.0, "")
    assert row.remark == "a remark; at 100,000: out of memory; at 10,000: out of memory"
    assert "1,000" in judge.table([row])


def test_row_notes_a_build_that_was_cut_short() -> None:
    def run(command: list[str], _file: Path, size: int, _budget: float) -> Done:
        taken = 30 if command == ["slow"] else size
        return Done({"subscriptions": taken, "events": 1, "us_per_event": float(taken)}, [[5]])

    row = Contest("m", Path("f"), 100, 1.0, run).row(Known("slow", lambda: ["slow"], "a remark"))
    assert row.remark == "a remark; at 30: no more were built in time"
    assert row.ratio == 1.0


def test_contest_fails_without_tamis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contest, "TAMIS", script(tmp_path, "tamis", "raise SystemExit('no kernels')"))
    result = invoke("-n", "10", "-m", "2", "--json", str(tmp_path / "report"))
    assert result.exit_code == 1
    assert "tamis itself failed: no kernels" in result.output


def test_missing_package_is_named_with_the_remedy() -> None:
    with pytest.raises(
        programs.Unavailable, match=r"no_such_package is not installed: pip install -e '\.\[peers\]'"
    ):
        programs.python("rule-engine", "no_such_package")


def test_duplicates_and_incomparable_events_are_differences() -> None:
    twice = Done({"subscriptions": 9, "events": 1, "us_per_event": 1.0}, [[5, 5]])
    assert "twice" in contest.difference("x", twice, [[5]])
    many = Done({"subscriptions": 9, "events": 2, "us_per_event": 1.0}, [[5], [6]])
    assert "raise the budget" in contest.difference("x", many, [[5]])


def test_goals_count_only_peers_with_all_subscriptions() -> None:
    def row(peer: str, us: float, size: int = 100_000, *, engine: bool = False) -> Row:
        figures = {"subscriptions": size, "events": 1, "us_per_event": us}
        return Row("m", peer, python_engine=engine, figures=figures, tamis_us=10.0)

    wrong = replace(row("wrong", 15.0), difference="event 3")
    rows = [
        row("tamis", 10.0),
        row("quick", 190.0),
        row("tiny", 20.0, 1_000),
        wrong,
        row("eval", 1e5, engine=True),
    ]
    fastest, batches, engines = judge.verdicts(rows, 100_000)
    assert (batches["peer"], batches["met"]) == (None, False)
    assert (fastest["peer"], fastest["ratio"], fastest["met"]) == ("quick", 19.0, False)
    assert (engines["peer"], engines["met"]) == ("eval", True)
    assert judge.sentence(fastest).endswith("19.0 times quick, MISSED")
    assert "no such peer" in judge.sentence(judge.verdicts(rows[:1], 100_000)[0])


def test_failed_build_reports_the_first_error() -> None:
    maven = "[ERROR] Failed: Could not find artifact org.x:y:jar:1 in central (https://host.example/maven2)"
    assert programs.first_error(maven) == "the repository has no org.x:y:jar:1"
    assert programs.first_error("warning: x\nerror: linker `cc` not found") == "error: linker `cc` not found"
    assert programs.first_error("") == "it says nothing"
    with pytest.raises(programs.Unavailable, match="cannot build it: error: nothing to do"):
        programs._build([sys.executable, "-c", "raise SystemExit('error: nothing to do')"])


def test_program_versions_are_those_of_their_projects() -> None:
    assert all(peer.version() for peer in PEERS.values() if peer.version)
    with pytest.raises(KeyError):
        programs.java_version("drools")
