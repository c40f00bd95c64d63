"""Magics for IPython and Jupyter: `%load_ext resource_tracker_native.jupyter`, then `%track STATEMENT` or `%%track`.

`%track` prints a line about a statement; `%%track` runs a cell and shows that line and the report of `ResourceTracker`. The tracker
stays in the variable `_track`.
"""
from __future__ import annotations

import ast
from shlex import split
from typing import Any, List, Optional

from ._length import seconds
from .tracker import ResourceTracker

USAGE = "%%track [--interval TIME] [--no-report]"
INTERVAL = 0.1


def _run(shell: Any, source: str) -> Any:
    """Runs the code in the user's variables, as a cell; returns the value of a last expression."""
    tree = shell.transform_ast(shell.compile.ast_parse(shell.transform_cell(source)))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    filename = shell.compile.cache(source)
    exec(compile(tree, filename, "exec"), shell.user_ns)
    return None if last is None else eval(compile(ast.Expression(last.value), filename, "eval"), shell.user_ns)


def _line(tracker: ResourceTracker) -> str:
    """Returns "3.21 s of CPU time in 2.05 s (1.57 cores), 412 MiB at most"."""
    frame = tracker.process_metrics
    times = [value for name in ("utime", "stime") for value in frame[name] if value is not None]
    wall = (tracker.stop_time or 0) - (tracker.start_time or 0)
    memory = [value for value in frame["memory_mib"] if value is not None]
    text = f"{sum(times):.2f} s of CPU time in {wall:.2f} s" if times else f"unknown CPU time in {wall:.2f} s"
    if times and wall > 0:
        text += f" ({sum(times) / wall:.2f} cores)"
    return text + (f", {max(memory):.1f} MiB at most" if memory else "")


def _options(line: str) -> "tuple[float, bool]":
    words: List[str] = split(line)
    interval, report = INTERVAL, True
    while words:
        word = words.pop(0)
        if word == "--no-report":
            report = False
        elif word == "--interval" and words:
            interval = seconds(words.pop(0))
        else:
            raise ValueError(f"{word!r} is not an option")
    return interval, report


def _track(shell: Any, source: str, interval: float, report: bool) -> Any:
    from IPython.display import display

    tracker = ResourceTracker(interval=interval, autostart=False, discover_cloud=False)
    failed = True
    tracker.start()
    try:
        value = _run(shell, source)
        failed = False
    finally:
        tracker.stop(exit_code=int(failed))
        shell.user_ns["_track"] = tracker
        print(_line(tracker))
        if report:
            # The value of the cell is not lost if no page can be made.
            try:
                display(tracker.report(integration="Jupyter", status_failed=failed, title="cell"))
            except OSError as problem:
                print(f"no report: {problem.strerror or problem}")
    return value


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics."""

    def track(line: str, cell: Optional[str] = None) -> Any:
        if cell is None:
            return _track(shell, line, INTERVAL, False)
        try:
            interval, report = _options(line)
        except ValueError as problem:
            from IPython.core.error import UsageError  # which IPython shows as one line

            raise UsageError(f"{problem}: {USAGE}") from None
        return _track(shell, cell, interval, report)

    shell.register_magic_function(track, "line_cell", "track")


def unload_ipython_extension(shell: Any) -> None:
    """Removes the magics."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("track", None)
