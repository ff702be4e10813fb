"""``tamis spark submit-example``: prints or writes files that send the package to a cluster."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from tamis.cli.support import note
from tamis.errors import InputError

_FILES = ("pack.sh", "submit.sh", "job.py")
_MASTER = "spark://HOST:7077"


@click.command(short_help="Show how to send Tamis to a cluster.")
@click.option("--master", default=_MASTER, show_default=True, help="The cluster, as spark-submit names it.")
@click.option(
    "-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False), help="Write the files here."
)
def submit_example(master: str, folder: Path | None) -> None:
    """Show a worked example: an archive of the environment, spark-submit, and a job.

    With -o, write the three files, ready to run: pack.sh, submit.sh, job.py.
    """
    texts = {name: _text(name).replace(_MASTER, master) for name in _FILES}
    if folder is None:
        click.echo("\n".join(f"# ---- {name}\n{text}" for name, text in texts.items()), nl=False)
        return
    if present := [name for name in _FILES if (folder / name).exists()]:
        raise InputError(f"{folder / present[0]} exists; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    note(
        f"{folder}: {', '.join(_FILES)}; run ./pack.sh there, then ./submit.sh SUBSCRIPTIONS EVENTS INDEX OUT"
    )


def _text(name: str) -> str:
    return files("tamis.cli.spark").joinpath("example", name).read_text(encoding="utf-8")
