"""The settings of all commands: a file, the environment, and the command line, in this order of strength.

The options of a command are its settings. ``tamis.toml`` has a table for each command, and a key for each
option: ``[serve]`` and ``port = 8080`` for ``tamis serve --port 8080``. The variable ``TAMIS_SERVE_PORT`` is
the same.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tamis.cli.support import Failure, print_json
from tamis.errors import InputError

DEFAULT_FILE = "tamis.toml"
PREFIX = "TAMIS"
_SECRET = re.compile(r"(?<=://)([^/@:]*):[^@/]*@")  # the password of a URL
_ORIGINS = {
    ParameterSource.COMMANDLINE: "option",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "file",
    ParameterSource.DEFAULT: "default",
}


def load(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Read the file of settings into the defaults of all commands; check names in the environment, too."""
    group = context.command
    assert isinstance(group, click.Group)
    try:
        _check_environment(group)
        if path is None and Path(DEFAULT_FILE).exists():
            path = Path(DEFAULT_FILE)
        if path is not None:
            context.default_map = _of_group(group, _read(path), path, "")
            context.meta["tamis.config"] = path
    except InputError as bad:  # options are read before the group can turn errors into messages
        raise Failure(bad) from None
    return path


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar=f"{PREFIX}_CONFIG",
    metavar="FILE",
    callback=load,
    is_eager=True,
    expose_value=False,
    help=f"The file of settings; {DEFAULT_FILE} in the current folder if it exists.",
)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as bad:
        raise InputError(f"the settings cannot be read from {path}: {bad.strerror}", file=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as bad:
        raise InputError(f"{path} is not TOML: {bad}", file=str(path)) from None


def _of_group(group: click.Group, found: Mapping[str, Any], path: Path, place: str) -> dict[str, Any]:
    """Return the defaults of the commands of a group."""
    defaults: dict[str, Any] = {}
    for name, table in found.items():
        command = group.commands.get(name)
        if command is None or not isinstance(table, dict):
            what = f"table [{place}{name}]" if isinstance(table, dict) else f"key {place}{name}"
            raise _unknown(f"{path} has the {what}, which is no command", name, group.commands)
        inner = f"{place}{name}."
        if isinstance(command, click.Group):
            defaults[name] = _of_group(command, table, path, inner)
        else:
            defaults[name] = _of_command(command, table, path, inner)
    return defaults


def _of_command(command: click.Command, table: Mapping[str, Any], path: Path, place: str) -> dict[str, Any]:
    """Return the defaults of one command, by the names of its parameters."""
    options = dict(_options(command))
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        option = options.get(key.replace("_", "-"))
        if option is None:
            raise _unknown(f"{path} has the key {place}{key}, which is no option", key, options)
        assert option.name is not None
        defaults[option.name] = _value(option, value, f"{path}: {place}{key}")
    return defaults


def _options(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Yield the options of a command by their longest names, without the dashes."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name not in ("help", "version"):
            yield max(parameter.opts, key=len).lstrip("-"), parameter


def _value(option: click.Option, value: Any, place: str) -> Any:
    """Return a value as the option takes it; a table gives a repeatable option its NAME=VALUE pairs."""
    if option.multiple:
        if isinstance(value, dict):
            return [f"{name}={_plain(one, place)}" for name, one in value.items()]
        if not isinstance(value, list):
            raise InputError(f"{place} is a list or a table, not {value!r:.60}")
        return [_plain(one, place) for one in value]
    if option.is_flag:
        if type(value) is not bool:
            raise InputError(f"{place} is true or false, not {value!r:.60}")
        return value
    return _plain(value, place)


def _plain(value: Any, place: str) -> str:
    if isinstance(value, dict | list):
        raise InputError(f"{place} is a single value, not {value!r:.60}")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unknown(why: str, name: str, known: Any) -> InputError:
    close = get_close_matches(name, [*known], 1) or get_close_matches(name.replace("_", "-"), [*known], 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
    return InputError(f"{why}; {hint}")


def _check_environment(group: click.Group) -> None:
    """Refuse a variable that begins like those of a command and names none of its options."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            continue
        start = f"{PREFIX}_{name.upper()}_"
        known = [str(option.envvar or start + (option.name or "").upper()) for _, option in _options(command)]
        for variable in os.environ:
            if variable.startswith(start) and variable not in known:
                short = f"{PREFIX}_{variable.removeprefix(start)}"
                near = [short] if short in known else known
                raise _unknown(f"the variable {variable} is no setting of tamis {name}", variable, near)


def secret(name: str) -> str | None:
    """Return a secret of the environment: the variable itself, or the content of the file in NAME_FILE."""
    path = os.environ.get(f"{name}_FILE")
    if path is None:
        return os.environ.get(name)
    if name in os.environ:
        raise InputError(f"both {name} and {name}_FILE are set; set one of them")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as bad:
        raise InputError(f"{name}_FILE names {path}, which cannot be read: {bad}") from None


@click.command(
    short_help="Show the settings of a command, and where each comes from.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.argument("command", nargs=1, default="serve")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def config(context: click.Context, command: str, arguments: tuple[str, ...], as_json: bool) -> None:
    """Show the settings of COMMAND (serve by default): each value with its origin.

    The origin is option, environment, file or default. ARGUMENTS are those that the command would get.
    Passwords in URLs are hidden.
    """
    group = context.find_root().command
    assert isinstance(group, click.Group)
    chosen = group.commands.get(command)
    if chosen is None or isinstance(chosen, click.Group):
        names = [name for name, one in group.commands.items() if not isinstance(one, click.Group)]
        raise _unknown(f"{command[:40]!r} is no command with settings", command, names)
    with chosen.make_context(command, list(arguments), context.find_root()) as inner:
        shown = {name: _shown(inner, option) for name, option in _options(chosen)}
    path = context.find_root().meta.get("tamis.config")
    if as_json:
        print_json({"command": command, "file": path and str(path), "settings": shown})
        return
    click.echo(f"tamis {command}, settings from {path or 'no file'}")
    width = max(map(len, shown))
    for name, one in shown.items():
        value = "" if one["value"] is None else json.dumps(one["value"], ensure_ascii=False)
        click.echo(f"  {name:{width}}  {one['origin']:11}  {value}".rstrip())


def _shown(context: click.Context, option: click.Option) -> dict[str, Any]:
    assert option.name is not None
    value = context.params.get(option.name)
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, str):
        value = _SECRET.sub(r"\1:***@", value)
    source = context.get_parameter_source(option.name)
    return {"value": value, "origin": _ORIGINS.get(source, "default") if source else "default"}
