"""The entry points ``compat`` and ``kubectl-compat``.

Data goes to stdout, everything else to stderr. Exit codes are those of docs/exit-codes.md; a fault of the input is one clear line per
fault and exit code 2, never a traceback.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def _stop(*_: object) -> NoReturn:
    with contextlib.suppress(OSError):
        os.write(2, b"compat: stopped\n")
    os._exit(130)


_usual = signal.getsignal(signal.SIGINT)
with contextlib.suppress(ValueError):  # not in the main thread: somebody's library, whose Ctrl-C is not ours
    signal.signal(signal.SIGINT, _stop)  # during the imports, which take most of the start and have nothing to clean up

import typer
from typer.exceptions import TyperException

from cli import check_command, kb_commands, matrix_commands, plan_command, recheck_command
from compat.errors import CompatError, DocumentError, InputError, printable

with contextlib.suppress(ValueError):
    signal.signal(signal.SIGINT, _usual)

__all__ = ["app", "main"]

app = typer.Typer(
    name="compat",
    help="Upgrade compatibility of Kubernetes clusters that run AI workloads on GPUs: query the matrix, plan a safe path.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("plan")(plan_command.plan)
app.command("check")(check_command.check)
app.command("recheck")(recheck_command.recheck)
app.command("why")(matrix_commands.why)
app.command("matrix")(matrix_commands.matrix)
app.add_typer(kb_commands.app, name="kb")


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"compat {version('compat-gpu')}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", callback=_version, is_eager=True),
) -> None:
    pass


def _heal(error: Exception) -> None:
    """Start over once, without the compiled store, if that turned out to be damaged."""
    if type(error).__module__ == "sqlite3" and type(error).__name__ == "DatabaseError" and "COMPAT_HEALED" not in os.environ:
        from compat.store import forget_stores

        forget_stores()
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "COMPAT_HEALED": "1"})  # noqa: S606  # ourselves


def _fail(lines: list[str], code: int) -> NoReturn:
    for line in lines:
        print(f"compat: {line}", file=sys.stderr)
    sys.exit(code)


def _usage(error: TyperException) -> str:
    """What is wrong with the words of the command line, on one line."""
    message = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    where = f" (see `{context.command_path} --help`)" if context else ""
    return printable(" ".join(message.replace("Value error, ", "").split()), 400) + where


def main() -> None:
    """Run the command line."""
    gc.disable()  # a command is over before a collection could pay
    name = "kubectl compat" if Path(sys.argv[0]).name.startswith("kubectl-") else "compat"
    try:
        code = typer.main.get_command(app).main(prog_name=name, standalone_mode=False)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code or 0)  # all is written; taking the interpreter apart would take longer than some commands
    except typer.Abort:
        _fail(["stopped"], 130)
    except TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error, file=sys.stderr)
            sys.exit(2)
        _fail([_usage(error)], 2)
    except DocumentError as error:
        _fail([printable(fault, 400) for fault in error.faults], 2)
    except InputError as error:
        _fail([printable(line, 600) for line in str(error).splitlines()], 2)
    except CompatError as error:
        _fail([printable(error, 600)], 1)
    except KeyboardInterrupt:
        _fail(["stopped"], 130)
    except OSError as error:
        _fail([f"{error.strerror or error}: {printable(error.filename or '', 200)}"], 1)
    except Exception as error:
        _heal(error)
        if os.environ.get("COMPAT_DEBUG"):
            raise
        _fail([f"internal error: {type(error).__name__}: {printable(error, 300)}; set COMPAT_DEBUG=1 for a traceback and please report it"], 1)


if __name__ == "__main__":
    main()
