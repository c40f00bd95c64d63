"""Trackers of processes and of the machine.

[`ResourceTracker`][] records in the background; [`ProcessTracker`][] and [`SystemTracker`][] write CSV from the thread
that calls them.
"""
from __future__ import annotations

from _thread import allocate_lock
from enum import Enum
from logging import getLogger
from os import environ, getpid, remove, truncate
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Type, Union

from . import _native
from ._settings import ending, files_of, settings_of, variables_of
from .column_maps import ERAS, HUMAN_NAMES_MAPPING, INTEGERS, TICKS, era_of
from .followers import PidTracker, ProcessTracker, SystemTracker
from .helpers import aggregate_stats, duration, in_bytes, known, mean, mean_over_time, round_memory
from .tiny_data_frame import StatSpec, TinyDataFrame

if TYPE_CHECKING:
    from .report import Report

__all__ = ["PidTracker", "ProcessTracker", "ResourceTracker", "RunStatus", "SystemTracker"]

logger = getLogger(__name__)

UPLOAD_DEADLINE_SECS = 12  # a little longer than the follower goes on by itself
METHODS = (None, "fork", "spawn", "forkserver")
# A start() this soon after the construction continues the recording, since nothing has happened between the two.
FRESH_SECS = 0.005


class RunStatus(Enum):
    """The outcome of a run."""

    finished = "finished"
    failed = "failed"


def default_specs(columns: str = "0.5") -> List[StatSpec]:
    """Returns the default statistics of `ResourceTracker.stats()`."""
    era = era_of(columns)
    job = [f"process_{name}" for name in ("cpu_usage", era.memory, "gpu_usage", era.vram, "gpu_utilized")]
    return [
        *(StatSpec(column, agg, round=2) for column in job for agg in (mean, max)),
        StatSpec("system_disk_space_used_gb", max, round=2),
        StatSpec("system_net_recv_bytes", sum),
        StatSpec("system_net_sent_bytes", sum),
        StatSpec("timestamp", duration, "duration"),
    ]


class ResourceTracker:
    """Records what a process tree and its machine use, in the background, until it is stopped.

    A C thread of this process takes the samples, with all signals blocked. It needs no other process, no file and no
    interpreter lock. CPU time is exact, also for descendants that lived a millisecond. The samples so far can be read
    at any time. Use it as a context manager, or call `stop()`.

    Args:
        pid: root of the tree; default: this process.
        children: count its descendants too.
        interval: seconds between samples.
        method: None: a thread of this process. "fork", "spawn" and "forkserver" all mean a separate process, which
            finishes the recording however this one ends (and Python 3.12 does not warn of threads when it forks).
        autostart: start at once. None (the default) does, too, and a first `start()` or `with` then begins anew, so that
            programs for every version of the Python package resource-tracker run. A stream begins with `start()` or
            `with` only.
        track_processes: record the process tree.
        track_system: record the machine.
        discover_server: fill `server_info` with a description of this machine.
        discover_cloud: fill `cloud_info`. Its first reader, which may be `snapshot()` or `dump()`, asks the metadata
            services of clouds.
        sentinel_token: stream the run to the Sentinel API; default: the environment variable SENTINEL_API_TOKEN.
        upload_interval: seconds between uploads of a stream.
        streaming_metadata: metadata of the run for the Sentinel API: job_name, project_name, command, tags and any
            other name. It is passed on unchanged, and changes no setting of this tracker.
        columns: "0.5", or the names and units of earlier versions: "0.4" (memory in kB) or "0.1".
        output_file: also write a recording to this file (JSON Lines, or CSV by its extension), which the commands of
            resource-tracker read; reports then show its whole content.
        settings: further settings, named like the long options of the command resource-tracker: {"input": ["reads.fq"]} or
            {"input_bytes": 5000} is the size of the job's input, by which advice is given.

    Raises:
        ProcessLookupError: there is no such process.
        ValueError: a parameter is out of its range.

    >>> with ResourceTracker(interval=0.1, discover_cloud=False) as tracker:
    ...     tracker.wait_for_samples(2)
    >>> tracker.n_samples >= 2
    True
    >>> tracker.stats()["process_memory_mib"]["max"] > 1
    True
    """

    def __init__(
        self,
        pid: Optional[int] = None,
        children: bool = True,
        interval: float = 1,
        method: Optional[str] = None,
        autostart: Optional[bool] = None,
        track_processes: bool = True,
        track_system: bool = True,
        discover_server: bool = True,
        discover_cloud: bool = True,
        sentinel_token: Optional[str] = None,
        upload_interval: int = 60,
        streaming_metadata: Optional[Dict[str, Any]] = None,
        *,
        columns: str = "0.5",
        output_file: Optional[str] = None,
        settings: Optional[Dict[str, Any]] = None,
    ):
        if method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, not {method!r}")
        self._era = era_of(columns)
        self.columns = columns
        self.pid = getpid() if pid is None else pid
        self.children = children
        self.interval = interval
        self.method = method
        self.autostart = autostart
        self.trackers = [name for name, wanted in (("process_tracker", track_processes), ("system_tracker", track_system))
                         if wanted]
        self.discover_server = discover_server
        self.discover_cloud = discover_cloud
        self.output_file = output_file
        self.start_time: Optional[float] = None
        self.stop_time: Optional[float] = None
        self._ending = allocate_lock()
        self._settings = dict(settings or {})
        self._token = sentinel_token or environ.get("SENTINEL_API_TOKEN") or None
        self._upload_interval = upload_interval
        self._streaming_metadata = streaming_metadata
        self._native: Any = None
        self._loaded: Optional[Dict[str, TinyDataFrame]] = None
        self._may_start = True
        self._begun = 0.0
        self._owner = getpid()
        self._written: Optional[List[tuple]] = []
        self._streams = False
        self._server_info: Optional[Dict[str, Any]] = None
        self._cloud_info: Optional[Dict[str, Any]] = None
        self._sentinel_result: Optional[Dict[str, Any]] = None
        if autostart:
            self.start()
        elif autostart is None:
            self._begin(stream=False)

    # ---- life ----

    def start(self) -> None:
        """Starts recording; earlier samples do not count. Raises RuntimeError if it runs or was stopped."""
        if self.running:
            if not self._may_start:
                raise RuntimeError("Resource tracker already running, cannot start again.")
            if self._owner != getpid():
                raise RuntimeError("Resource tracker belongs to the process that made it, not to its fork.")
            self._may_start = False
            if not self._token and (monotonic() - self._begun < FRESH_SECS or self._written is None):
                return
            self._take_back()
        if self.stop_time is not None:
            raise RuntimeError(
                "Resource tracker already stopped. Create a new instance instead of trying to restart it.")
        self._may_start = False
        self._begin(stream=bool(self._token))

    def _begin(self, stream: bool) -> None:
        settings = settings_of(self, stream)
        variables = variables_of(self) if stream else []
        # The server's answer comes to the process that streams.
        apart = self.method is not None and not self._token
        tracker = _native.Tracker(settings, history=-1, variables=variables, apart=apart)
        self._written = files_of(settings, tracker.output_path)
        tracker.start()
        self._native = tracker
        self._streams = stream
        self._owner = getpid()
        self._begun = monotonic()
        self.start_time = time()

    def _take_back(self) -> None:
        """Discards what was recorded since the construction."""
        begun, self._native, self.start_time = self._native, None, None
        begun.close()
        for name, length in self._written or ():
            if length is None:
                remove(name)
            else:
                truncate(name, length)

    def stop(self, exit_code: int = 0, run_status: Union[RunStatus, str] = RunStatus.finished) -> None:
        """Takes a last sample and ends the recording. A second call does nothing; in another thread it waits for the first.

        Args:
            exit_code: the job's, for a stream.
            run_status: how it ended, for a stream. A failed run without an exit code is reported with exit code 1.

        Raises:
            RuntimeError: it was never started.
        """
        if self.start_time is None:
            raise RuntimeError("Resource tracker not started, cannot stop.")
        if self._owner != getpid():
            # The lock may be held by a thread that a forked child does not have.
            self._end(exit_code, run_status)
            return
        with self._ending:
            self._end(exit_code, run_status)

    def _end(self, exit_code: int, run_status: Union[RunStatus, str]) -> None:
        if self.stop_time is not None:
            return
        if exit_code == 0 and getattr(run_status, "value", run_status) == RunStatus.failed.value:
            exit_code = 1
        try:
            self._native.stop(*(ending(exit_code) if self._streams else ()))
        finally:
            self.stop_time = time()
            if self._streams:
                self._await_upload(exit_code, run_status)
            elif self._token:
                logger.warning("the run was not streamed: a stream begins with start() or `with`")
            self._warn()

    def _await_upload(self, exit_code: int, run_status: Union[RunStatus, str]) -> None:
        from json import loads

        try:
            self._native.wait_for_upload(UPLOAD_DEADLINE_SECS)
            answer = self._native.upload_answer()
            self._sentinel_result = None if answer is None else loads(answer)
        except (OSError, ValueError) as problem:
            status = getattr(run_status, "value", run_status)
            logger.warning("the end of the run (%s, exit code %s) has not reached the server: %s", status, exit_code, problem)

    def _warn(self) -> None:
        while True:
            warning = self._native.next_warning()
            if warning is None:
                return
            logger.warning("%s", warning)

    def cleanup(self) -> None:
        """Stops it if it runs. Samples stay readable as long as the object lives. A forked child does nothing."""
        if self.running and self._owner == getpid():
            self.stop()

    def __enter__(self) -> "ResourceTracker":
        if not self.running or self._may_start:
            self.start()
        return self

    def __exit__(self, exc_type: Optional[Type[BaseException]], exc_val: Any, exc_tb: Any) -> Literal[False]:
        # A child forked in the body leaves it, too, but the recording belongs to its parent.
        if self.running and self._owner == getpid():
            failed = exc_type is not None
            self.stop(exit_code=int(failed), run_status=RunStatus.failed if failed else RunStatus.finished)
        return False

    @property
    def running(self) -> bool:
        """Tells whether it was started and not yet stopped."""
        return self.start_time is not None and self.stop_time is None

    @property
    def n_samples(self) -> int:
        """The number of samples so far."""
        if self._loaded is not None:
            return min((len(frame) for frame in self._loaded.values() if frame.columns), default=0)
        return self._native.history_count()[1] if self._native else 0

    def wait_for_samples(self, n: int = 1, timeout: float = 5) -> None:
        """Waits for n samples. Raises RuntimeError after `timeout` seconds, or if it was stopped with fewer.

        Signals are handled at once. A negative timeout counts as 0.
        """
        if not self.running:
            if self.start_time is None:
                raise RuntimeError("Resource tracker was not started, so there are no samples to wait for: call start() first.")
            if self.n_samples < n:
                raise RuntimeError(
                    f"Resource tracker has been already stopped with {self.n_samples} sample(s), "
                    f"cannot wait to collect the requested {n} sample(s).")
        elif not self._wait(n, timeout):
            raise RuntimeError(f"Timed out waiting for resource tracker to collect {n} samples")

    def _wait(self, n: int, timeout: float) -> bool:
        timeout = max(timeout, 0)
        if isinstance(self._native, _native.Tracker):
            return self._native.wait_for_samples(n, timeout)
        end = monotonic() + timeout
        while self._native.sample_count < n:
            if monotonic() > end:
                return False
            sleep(min(0.01, self.interval / 10))
        return True

    # ---- recorded samples ----

    def _frame(self, kind: str, columns: Optional[str] = None) -> TinyDataFrame:
        columns = columns or self.columns
        if self._loaded is not None:
            return self._loaded[kind][:]
        if self._native is None or f"{kind}_tracker" not in self.trackers:
            return TinyDataFrame(data=[])
        native = self._native
        layout = getattr(ERAS[columns], kind)
        first, count, _ = native.history_count()
        if kind == "process":
            count = self._until_end(layout, getattr(ERAS[columns], "memory"), first, count)
        if not count:
            return TinyDataFrame(data=[])

        def reader_of(name: str) -> Any:
            integers = name in INTEGERS or columns == "0.1" and name in TICKS
            return lambda: native.history(name, layout, first, count, integers)

        return TinyDataFrame._of({name: reader_of(name) for name in _native.csv_headings(layout)}, count)

    def _until_end(self, layout: str, memory: str, first: int, count: int) -> int:
        """Returns the number of rows of another process, up to the one in which it ended. The machine's rows go on."""
        if self.pid == getpid() or not count or self._native.history(memory, layout, first + count - 1, 1)[0] is not None:
            return count
        present = [row for row, value in enumerate(self._native.history(memory, layout, first, count)) if value is not None]
        return min(present[-1] + 2, count) if present else count

    @property
    def process_metrics(self) -> TinyDataFrame:
        """Rows of the process tree so far; see [`ProcessTracker`][] for the columns."""
        return self._frame("process")

    @property
    def system_metrics(self) -> TinyDataFrame:
        """Rows of the machine so far; see [`SystemTracker`][] for the columns."""
        return self._frame("system")

    @property
    def programs(self) -> TinyDataFrame:
        """A row for each program of the tree, with its CPU time so far; asked for by `settings={"programs": 8}`."""
        from ._programs import programs_of

        return programs_of(self)

    # Their names before version 0.4.
    pid_tracker = process_metrics
    system_tracker = system_metrics

    def get_combined_metrics(
        self,
        bytes: bool = False,
        human_names: bool = False,
        system_prefix: Optional[str] = None,
        process_prefix: Optional[str] = None,
        offset: Optional[int] = None,
    ) -> TinyDataFrame:
        """Returns the columns of the machine and of the process tree side by side.

        Args:
            bytes: memory and disk space in bytes; the names stay.
            human_names: names for people.
            system_prefix: prefix of the machine's columns; default "system_", or "System ".
            process_prefix: prefix of the process's columns; default "process_", or "Process ".
            offset: number of first rows to leave out.
        """
        return self._combined(self._frame("system"), self._frame("process"), bytes, human_names, system_prefix,
                              process_prefix, offset)

    def _combined(self, system: TinyDataFrame, process: TinyDataFrame, bytes: bool = False, human_names: bool = False,
                  system_prefix: Optional[str] = None, process_prefix: Optional[str] = None,
                  offset: Optional[int] = None) -> TinyDataFrame:
        lengths = [len(frame) for frame in (system, process) if frame.columns]
        rows = slice(max(offset or 0, 0), min(lengths, default=0))
        if rows.start >= rows.stop:
            return TinyDataFrame(data=[])
        prefixes = ("System " if human_names else "system_") if system_prefix is None else system_prefix, \
            ("Process " if human_names else "process_") if process_prefix is None else process_prefix
        cells: Dict[str, Any] = {}
        for prefix, frame in zip(prefixes, (system, process)):
            frame = frame if rows.start == 0 and rows.stop == len(frame) else frame[rows]
            for name, column in frame._cells.items():
                shown = HUMAN_NAMES_MAPPING.get(name, name) if human_names else name
                if name == "timestamp":
                    cells.setdefault(shown, column)
                else:
                    cells[prefix + shown] = in_bytes(column, self._era.bytes.get(name)) if bytes else column
        return TinyDataFrame._of(cells, rows.stop - rows.start)

    def stats(self, specs: Optional[List[StatSpec]] = None) -> Dict[str, Dict[str, Any]]:
        """Computes statistics over all samples, {column: {name: value}}, of `get_combined_metrics()`.

        Args:
            specs: the statistics to compute; functions get the measured values. Default: mean (over time) and maximum
                of the job's cores, memory and GPUs, the largest disk space in use, the network traffic, and the
                duration; None if nothing was measured.

        Raises:
            RuntimeError: there is no sample yet.
        """
        frame = self.get_combined_metrics()
        return self._default_stats(frame, self.columns) if specs is None else self._stats(frame, specs)

    def _stats(self, frame: TinyDataFrame, specs: List[StatSpec]) -> Dict[str, Dict[str, Any]]:
        if not len(frame):
            raise RuntimeError("No metrics collected (yet)")
        used = {spec.column for spec in specs} & set(frame.columns)
        results = TinyDataFrame._of({name: known(frame[name]) for name in frame.columns if name in used}).stats(specs)
        if results.get("timestamp", {}).get("duration") is not None:
            results["timestamp"]["duration"] += self._before_first(frame["timestamp"][0])
        return results

    def _default_stats(self, frame: TinyDataFrame, columns: str) -> Dict[str, Dict[str, Any]]:
        """Computes means over time, as the last sample may be short. A column that was never measured gives None."""
        specs = default_specs(columns)
        present = {name for name in frame.columns if name in {spec.column for spec in specs} and known(frame[name])}
        results = self._stats(frame, [spec for spec in specs if spec.column in present and spec.agg is not mean])
        weights = self._weights(frame["timestamp"])
        ordered: Dict[str, Dict[str, Any]] = {}
        for spec in specs:
            name = spec.agg_name or spec.agg.__name__
            value = results.get(spec.column, {}).get(name)
            if spec.agg is mean and spec.column in present:
                value = round(mean_over_time(frame[spec.column], weights), 2)
            ordered.setdefault(spec.column, {})[name] = value
        return ordered

    def _before_first(self, timestamp: float) -> float:
        """Returns the seconds that the first sample covers: an interval, or less in a shorter run."""
        since_start = timestamp - self.start_time if self.start_time else self.interval
        return min(max(since_start, 0), self.interval)

    def _weights(self, timestamps: List[float]) -> List[float]:
        """Returns the seconds that each sample covers; 1 for each if time stamps cannot resolve the run."""
        before = [timestamps[0] - self._before_first(timestamps[0]), *timestamps]
        weights = [max(end - begin, 0) for begin, end in zip(before, timestamps)]
        return weights if sum(weights) > 0 else [1] * len(weights)

    # ---- conclusions ----

    def recommend_resources(self, historical_stats: List[Dict[str, Any]] = []) -> Dict[str, int]:
        """Returns the resources to request next time: `cpu` (cores), `memory` (MiB), `gpu` (devices), `vram` (MiB).

        They are the mean of cores and the maximum of memory, GPUs and GPU memory. Both memories get a fifth more and
        are rounded up to usual sizes. With earlier runs, the memory is that of `resource-tracker recommend` (docs/SIZING.md):
        its margin follows the scatter of the runs, in steps of 16 MiB.

        Args:
            historical_stats: results of `stats()` for earlier runs, the oldest first, with the same weight.
        """
        from ._recordings import memory_for

        self.wait_for_samples(n=1, timeout=self.interval * 5)
        stats = self._default_stats(self._combined(self._frame("system", "0.5"), self._frame("process", "0.5")), "0.5")
        runs = [*historical_stats, stats]
        if historical_stats:
            stats = aggregate_stats(runs)
        if stats["process_cpu_usage"]["mean"] is None or stats["process_memory_mib"]["max"] is None:
            raise RuntimeError("Without a tracked process there is nothing to recommend for it")
        gpu, vram = stats["process_gpu_usage"], stats["process_gpu_vram_mib"]
        return {
            "cpu": max(1, round(stats["process_cpu_usage"]["mean"])),
            "memory": memory_for(runs) if historical_stats else round_memory(stats["process_memory_mib"]["max"] * 1.2),
            "gpu": max(1, round(gpu["max"])) if gpu["max"] else 0,
            "vram": round_memory(vram["max"] * 1.2) if vram["max"] else 0,
        }

    def recommend_server(self, **kwargs: Any) -> Optional[Dict[str, Any]]:
        """Returns the cheapest cloud server with `recommend_resources()`, as the Keeper service describes it.

        None if the service cannot be asked or knows no such server; the log says which.

        Args:
            **kwargs: `historical_stats`, and filters of the service (vendor_id, compliance_framework_id, ...).
        """
        from .keeper import get_recommended_cloud_servers

        wanted = self.recommend_resources(historical_stats=kwargs.pop("historical_stats", []))
        servers = get_recommended_cloud_servers(**wanted, **kwargs, n=1)
        if servers == []:
            logger.warning("no server has %s", wanted)
        return servers[0] if servers else None

    def report(
        self,
        integration: str = "standalone",
        historical_stats: List[Dict[str, Any]] = [],
        status_failed: bool = False,
        integration_version: Optional[str] = None,
        *,
        title: Optional[str] = None,
        usd_per_hour: Optional[float] = None,
        catalogue: Optional[str] = None,
        instance: Optional[str] = None,
    ) -> Report:
        """Makes an HTML page about the run that needs no network: see
        [`Report`][resource_tracker_native.report.Report].

        Args:
            integration: the framework of the job ("standalone", "Metaflow", "R", ...).
            historical_stats: results of `stats()` for earlier runs.
            status_failed: the job has failed.
            integration_version: version of the framework.
            title: title of the page; default: the job's name, or the program's.
            usd_per_hour: the machine's price; the page then shows the run's cost.
            catalogue: a price list (CSV or SQLite, as of `resource-tracker recommend --catalogue`): the page offers the
                cheapest server that fits.
            instance: the run's server, as vendor/region/type of the catalogue; default: the one in `cloud_info`.
        """
        from ._recordings import report_of

        prices = {"usd_per_hour": usd_per_hour, "catalogue": catalogue, "instance": instance}
        return report_of(self, integration, historical_stats, status_failed, integration_version, title, prices)

    def advice(
        self, history: Union[str, List[str]] = [], *, policy: str = "max", input_bytes: float = 0, attempt: int = 1, form: str = "json"
    ) -> Any:
        """Returns what `resource-tracker recommend` says for the next run: memory by the size of its input and its attempt, cores, time.

        The tracker must have been stopped and have an `output_file`. docs/SIZING.md explains the policies and the evidence.

        Args:
            history: recordings and files of runs, of which those of this job count.
            policy: `max`, `p95` or `cost`.
            input_bytes: the size of the next run's input; 0: unknown.
            attempt: 2 if the first attempt was killed for lack of memory, and so on.
            form: `json` returns a dict; `text`, `slurm`, `kubernetes`, `docker`, `nextflow`, `snakemake` and `metaflow` return text.
        """
        from json import loads

        from . import _analysis
        from ._recordings import output_of

        if not self.output_file or self.stop_time is None:
            raise RuntimeError("Advice is made of a recording: give the tracker an output_file, and stop it first")
        files = [history] if isinstance(history, str) else list(history)
        text = _analysis.recommend([output_of(self), *files], form, policy=policy, input_bytes=input_bytes, attempt=attempt)
        return loads(text) if form == "json" else text

    def append_run(self, runs: Optional[str] = None) -> Dict[str, Any]:
        """Appends the line of this run to a file of runs, as the command does with `--runs`, and returns it.

        The tracker must have been stopped and have an `output_file`, from which the line is made. `resource-tracker history` and
        DuckDB read the file (docs/FLEET.md).

        Args:
            runs: the file; default: `$TRACKER_RUNS`.
        """
        from json import loads
        from os import environ

        from . import _analysis
        from ._recordings import output_of

        runs = runs or environ.get("TRACKER_RUNS")
        if not runs:
            raise ValueError("Name a file of runs, or set TRACKER_RUNS")
        if not self.output_file or self.stop_time is None:
            raise RuntimeError("A line is made of a recording: give the tracker an output_file, and stop it first")
        recording = output_of(self)
        _analysis.append_run(runs, recording)
        return dict(loads(_analysis.run_line(recording)))

    # ---- where it ran ----

    @property
    def server_info(self) -> Optional[Dict[str, Any]]:
        """The result of `get_server_info()`, and `allocation`: whether the machine did much other work ("dedicated",
        "shared").
        """
        if self._server_info is None and self.discover_server and self.start_time is not None:
            from .server_info import get_server_info

            try:
                self._server_info = {**get_server_info(), "allocation": None}
            except OSError as problem:
                logger.warning("the server cannot be looked at: %s", problem)
        if self._server_info is not None and self._loaded is None and self.n_samples:
            from .allocation import allocation_of

            self._server_info["allocation"] = allocation_of(self._frame("process", "0.5"), self._frame("system", "0.5"))
        return self._server_info

    @property
    def cloud_info(self) -> Optional[Dict[str, Any]]:
        """The result of `get_cloud_info()`. The first read asks the clouds."""
        if self._cloud_info is None and self.discover_cloud and self.start_time is not None:
            from .cloud_info import get_cloud_info

            try:
                self._cloud_info = get_cloud_info()
            except OSError as problem:
                logger.warning("clouds cannot be asked: %s", problem)
        return self._cloud_info

    @property
    def sentinel_result(self) -> Optional[Dict[str, Any]]:
        """The Sentinel API's answer to the end of the run; None without a stream, or if the service was not reached."""
        return self._sentinel_result

    def __repr__(self) -> str:
        state = "running" if self.running else "not started" if self.start_time is None else "stopped"
        return f"<ResourceTracker of process {self.pid}, {state}, {self.n_samples} samples>"

    def _repr_html_(self) -> str:
        kind = "process" if "process_tracker" in self.trackers else "system"
        return f"<p>{repr(self)[1:-1]}</p>{self._frame(kind).tail(5)._repr_html_()}"

    # ---- keeping it ----

    def snapshot(self) -> Dict[str, Any]:
        """Returns everything as a dictionary ready for JSON; `from_snapshot()` reads it."""
        from ._recordings import snapshot_of

        return snapshot_of(self)

    @classmethod
    def from_snapshot(cls, snapshot: Dict[str, Any]) -> "ResourceTracker":
        """Returns a stopped tracker with the content of a snapshot, of any version of the package."""
        from ._recordings import load_snapshot

        return load_snapshot(cls, snapshot)

    def dumps(self) -> str:
        """Returns the snapshot as JSON."""
        from json import dumps

        return dumps(self.snapshot())

    @classmethod
    def loads(cls, s: str) -> "ResourceTracker":
        """Reads the result of `dumps()`."""
        from json import loads

        return cls.from_snapshot(loads(s))

    def dump(self, file: str) -> None:
        """Writes the snapshot as JSON to a gzip file."""
        from gzip import open as open_gzip

        with open_gzip(file, "wb") as out:
            out.write(self.dumps().encode())

    @classmethod
    def load(cls, file: str) -> "ResourceTracker":
        """Reads a file that `dump()` wrote."""
        from gzip import open as open_gzip

        with open_gzip(file, "rb") as content:
            return cls.loads(content.read().decode())


def __getattr__(name: str) -> Any:
    """Version 0.1 had its readings in this module."""
    from . import first_names

    try:
        return getattr(first_names, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
