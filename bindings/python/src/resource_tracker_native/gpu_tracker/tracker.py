"""The Tracker, and its final figures."""
from __future__ import annotations

import dataclasses as dclass
import enum
import logging as log
import os
import tempfile
import threading
import time
import typing as typ
import uuid

from . import engine
from .sub_tracking_file import extension_of, make_room

LEAST_SLEEP_SECS = 0.1
STALE_SECS = 10.0
SIZE_UNITS = ("bytes", "gigabytes", "kilobytes", "megabytes", "terabytes")
TIME_UNITS = ("days", "hours", "minutes", "seconds")
BRANDS = ("nvidia", "amd")


def _usual_file() -> str:
    """Returns a name in the working directory, or in the temporary folder if that is not writable."""
    folder = "" if os.access(".", os.W_OK) else tempfile.gettempdir()
    return os.path.join(folder, f".gpu-tracker_{uuid.uuid1()}.jsonl")


def _check_unit(unit: str, units: tuple[str, ...], kind: str) -> None:
    if unit not in units:
        raise ValueError(f'"{unit}" is not a valid {kind} unit. Valid values are {", ".join(units)}')


class Tracker:
    """
    Tracks what a process and its descendants use, from entering the context (or `start()`) to leaving it (or `stop()`).

    A thread in the calling process takes the samples. If the machine has a GPU, a helper process asks its driver. The
    figures include neither.

    :ivar ResourceUsage resource_usage: The usage; None until tracking has stopped.
    """

    class State(enum.Enum):
        """The state of the Tracker."""
        NEW = 0
        STARTED = 1
        STOPPED = 2

    def __init__(self, sleep_time: float = 1.0, ram_unit: str = "gigabytes", gpu_ram_unit: str = "gigabytes",
                 time_unit: str = "hours", n_expected_cores: int | None = None, gpu_uuids: set[str] | None = None,
                 disable_logs: bool = False, process_id: int | None = None, resource_usage_file: str | None = None,
                 n_join_attempts: int = 5, join_timeout: float = 10.0, gpu_brand: str | None = None,
                 tracking_file: str | None = None, overwrite: bool = False):
        """
        :param sleep_time: Seconds between samples, at least 0.1.
        :param ram_unit: One of 'bytes', 'kilobytes', 'megabytes', 'gigabytes', or 'terabytes'.
        :param gpu_ram_unit: One of 'bytes', 'kilobytes', 'megabytes', 'gigabytes', or 'terabytes'.
        :param time_unit: One of 'seconds', 'minutes', 'hours', or 'days'.
        :param n_expected_cores: The number of cores that hardware percentages of processes refer to. Defaults to all
            cores.
        :param gpu_uuids: The GPUs whose utilization counts; its hardware percentages refer to them. Defaults to all.
        :param disable_logs: Whether warnings are left out.
        :param process_id: The process to track with its descendants. Defaults to the current process.
        :param resource_usage_file: The recording while tracking goes on (JSON Lines, valid up to its last sample
            whatever happens; `read_resource_usage()` reads it). It is deleted when tracking has completed. Defaults to
            a random name, .gpu-tracker_<UUID>.jsonl, in the working directory (in the temporary folder if that is not
            writable).
        :param n_join_attempts: How often stopping waits for the thread that samples.
        :param join_timeout: How many seconds it waits each time.
        :param gpu_brand: 'nvidia' or 'amd', to ask for GPUs of that brand alone. Defaults to all.
        :param tracking_file: The file for the measurements of all samples, written when tracking stops: CSV (.csv) or
            SQLite (.sqlite).
        :param overwrite: Whether an existing tracking_file may be replaced.
        :raises ValueError: Raised if an argument is invalid.
        """
        if not sleep_time >= LEAST_SLEEP_SECS:
            raise ValueError(f"Sleep time of {sleep_time} is invalid. Must be at least {LEAST_SLEEP_SECS} seconds.")
        _check_unit(ram_unit, SIZE_UNITS, "RAM")
        _check_unit(gpu_ram_unit, SIZE_UNITS, "GPU RAM")
        _check_unit(time_unit, TIME_UNITS, "time")
        if gpu_brand is not None and gpu_brand not in BRANDS:
            raise ValueError(f'"{gpu_brand}" is not a valid GPU brand. Supported values are "nvidia" and "amd".')
        if gpu_uuids is not None and not self._can_choose(gpu_uuids, gpu_brand):
            gpu_uuids = None
        if tracking_file is not None:
            extension_of(tracking_file)
            make_room(tracking_file, overwrite)
        self._layout = engine.Layout(ram_unit, gpu_ram_unit, time_unit, n_expected_cores, gpu_uuids)
        self._sleep_time, self._gpu_brand = sleep_time, gpu_brand
        self._process_id = os.getpid() if process_id is None else process_id
        self._disable_logs = disable_logs
        # The body may change the working directory.
        self._resource_usage_file = os.path.abspath(resource_usage_file or _usual_file())
        self._tracking_file = None if tracking_file is None else os.path.abspath(tracking_file)
        self._recorder: typ.Any = None
        self._gone_before = False
        self.resource_usage: ResourceUsage | None = None
        self.n_join_attempts = n_join_attempts
        self.join_timeout = join_timeout
        self.state = Tracker.State.NEW

    @staticmethod
    def _can_choose(uuids: set[str], brand: str | None) -> bool:
        """Tells whether there are GPUs; without any, a choice has no effect. Raises ValueError for an unknown choice."""
        available = engine.gpu_uuids(brand)
        if available is None:
            return False
        if not uuids:
            raise ValueError("gpu_uuids is not None but the set is empty. Please provide a set of at least one GPU UUID.")
        for one in sorted(uuids):
            if one not in available:
                raise ValueError(f"GPU UUID of {one} is not valid. Available UUIDs are: {', '.join(sorted(available))}")
        return True

    def _warn(self, text: str) -> None:
        if not self._disable_logs:
            log.warning(text)

    def __repr__(self) -> str:
        return f"State: {self.state.name}"

    def __enter__(self) -> Tracker:
        if self.state != Tracker.State.NEW:
            raise RuntimeError(f"Cannot start tracking when tracking has already {self.state.name.lower()}.")
        try:
            self._recorder = engine.Recorder(self._resource_usage_file, self._sleep_time, self._process_id, self._gpu_brand)
        except ProcessLookupError:
            self._warn(f"The target process of ID {self._process_id} ended before tracking could begin.")
            self._gone_before = True
            self._recorder = engine.Recorder(self._resource_usage_file, self._sleep_time, None, self._gpu_brand)
        self.state = Tracker.State.STARTED
        return self

    def __exit__(self, *_) -> None:
        if self.state == Tracker.State.NEW:
            raise RuntimeError("Cannot stop tracking when tracking has not started yet.")
        if self.state == Tracker.State.STOPPED:
            raise RuntimeError("Cannot stop tracking when tracking has already stopped.")
        self.state = Tracker.State.STOPPED
        if not os.path.isfile(self._resource_usage_file):
            self._recorder.close()
            raise RuntimeError("The temporary tracking results file does not exist. Tracking results cannot be obtained.")
        self._stop_recorder()
        self._take_results()
        os.remove(self._resource_usage_file)

    def _age_secs(self) -> float:
        """Returns how long ago the recording has grown."""
        return time.time() - os.path.getmtime(self._resource_usage_file)

    def _stop_recorder(self) -> None:
        """
        Takes the last sample. If samples are overdue, the sampling thread hangs, and waiting for it must have an end.
        (Always stopping from another thread would add that thread to those of the last sample.)
        """
        if self._age_secs() <= STALE_SECS + self._sleep_time:
            self._recorder.stop()
            return
        stopping = threading.Thread(target=self._recorder.stop, daemon=True, name="gpu-tracker-stop")
        stopping.start()
        for _ in range(self.n_join_attempts):
            stopping.join(self.join_timeout)
            if not stopping.is_alive():
                return
            self._warn("The tracker is still sampling after the join timeout. Attempting to join again...")
        self._warn(f"The tracker is still sampling after {self.n_join_attempts} attempts to join. "
                   "Its recording is taken as it is...")

    def _take_results(self) -> None:
        """Reads the figures and deletes the recording. If anything fails, the recording stays."""
        path = self._resource_usage_file
        for warning in self._recorder.warnings():
            self._warn(warning)
        age = self._age_secs()
        if age > STALE_SECS:
            self._warn(f"Tracking is stopping and it has been {age} seconds since the temporary tracking results file was last "
                       "updated. Resource usage was not updated during that time.")
        usage = ResourceUsage.from_json(engine.figures(path, self._layout))
        if self._gone_before:
            usage.forget_processes()
        elif engine.end_reason(path) == "target_exited":
            self._warn(f"The target process of ID {self._process_id} ended before tracking was stopped.")
        if usage.gpu_utilization.system_gpu_count == 0:
            self._warn("No GPU was found. The GPU RAM and GPU utilization values are 0.0.")
        if self._tracking_file is not None:
            engine.export(path, self._tracking_file, self._layout)
        self.resource_usage = usage

    def start(self) -> None:
        """Begins tracking, as entering the context does."""
        self.__enter__()

    def stop(self) -> None:
        """Stops tracking, as leaving the context does."""
        self.__exit__()

    def _results(self) -> ResourceUsage:
        if self.resource_usage is None:
            raise RuntimeError("Cannot display the tracker in string or JSON format before tracking completes. Exit the context "
                               "manager or call the stop() method before calling to_json() or str()")
        return self.resource_usage

    def __str__(self) -> str:
        """Formats the measurements and their units for people."""
        return str(self._results())

    def to_json(self) -> dict[str, dict]:
        """Returns the measurements and their units as maps, ready for JSON."""
        return dclass.asdict(self._results())


@dclass.dataclass
class RSSValues:
    """
    The resident set size (RSS), i.e. memory used by a process or processes. None: unknown.

    :param total_rss: The sum of ``private_rss`` and ``shared_rss``.
    :param private_rss: The RAM usage exclusive to a process.
    :param shared_rss: The RAM usage of a process shared with at least one other process.
    """
    total_rss: float | None = 0.0
    private_rss: float | None = 0.0
    shared_rss: float | None = 0.0


@dclass.dataclass
class MaxRAM:
    """
    The most RAM used at any time.

    :param unit: The unit of measurement, e.g. gigabytes.
    :param system_capacity: The RAM of the machine.
    :param system: RAM used by the whole machine.
    :param main: RAM used by the main process.
    :param descendants: RAM used by its descendants.
    :param combined: RAM used by all of them; pages that they share count once.
    """
    unit: str
    system_capacity: float
    system: float | None = 0.0
    main: RSSValues = dclass.field(default_factory=RSSValues)
    descendants: RSSValues = dclass.field(default_factory=RSSValues)
    combined: RSSValues = dclass.field(default_factory=RSSValues)


@dclass.dataclass
class MaxGPURAM:
    """
    The most GPU RAM used at any time.

    :param unit: The unit of measurement, e.g. gigabytes.
    :param system_capacity: The GPU RAM of all GPUs.
    :param system: GPU RAM used by the whole machine.
    :param main: GPU RAM used by the main process.
    :param descendants: GPU RAM used by its descendants.
    :param combined: GPU RAM used by all of them.
    """
    unit: str
    system_capacity: float
    system: float | None = 0.0
    main: float | None = 0.0
    descendants: float | None = 0.0
    combined: float | None = 0.0


@dclass.dataclass
class ProcessingUnitPercentages:
    """
    How busy processing units (GPUs or CPU cores) were. "sum" is over the units, "hardware" is that divided by their number.

    :param max_sum_percent: The largest sum.
    :param max_hardware_percent: The largest percentage of the hardware.
    :param mean_sum_percent: The mean sum, by time.
    :param mean_hardware_percent: The mean percentage of the hardware, by time.
    """
    max_sum_percent: float | None = 0.0
    max_hardware_percent: float | None = 0.0
    mean_sum_percent: float | None = 0.0
    mean_hardware_percent: float | None = 0.0


@dclass.dataclass
class CPUUtilization:
    """
    How busy CPU cores were. Hardware percentages of the system refer to all cores, those of processes to the expected ones.

    :param system_core_count: The number of cores of the machine.
    :param n_expected_cores: The number of cores that the processes were expected to use.
    :param system: The cores of the machine.
    :param main: The cores that the main process used.
    :param descendants: The cores that its descendants used.
    :param combined: The cores that all of them used.
    :param main_n_threads: The most threads of the main process at any time.
    :param descendants_n_threads: The most threads of its descendants together at any time.
    :param combined_n_threads: The most threads of all of them together at any time.
    """
    system_core_count: int
    n_expected_cores: int
    system: ProcessingUnitPercentages = dclass.field(default_factory=ProcessingUnitPercentages)
    main: ProcessingUnitPercentages = dclass.field(default_factory=ProcessingUnitPercentages)
    descendants: ProcessingUnitPercentages = dclass.field(default_factory=ProcessingUnitPercentages)
    combined: ProcessingUnitPercentages = dclass.field(default_factory=ProcessingUnitPercentages)
    main_n_threads: int | None = 0
    descendants_n_threads: int | None = 0
    combined_n_threads: int | None = 0


@dclass.dataclass
class GPUUtilization:
    """
    How busy GPUs were.

    :param system_gpu_count: The number of GPUs of the machine.
    :param n_expected_gpus: The number of the chosen ones.
    :param gpu_percentages: How busy the chosen ones were.
    """
    system_gpu_count: int
    n_expected_gpus: int
    gpu_percentages: ProcessingUnitPercentages = dclass.field(default_factory=ProcessingUnitPercentages)


@dclass.dataclass
class ComputeTime:
    """
    How long tracking took.

    :param unit: The unit of measurement, e.g. hours.
    :param time: The real time.
    """
    unit: str
    time: float = 0.0


# Members of these objects that are groups themselves.
_PARTS: dict[str, tuple[typ.Any, typ.Any]] = {
    "max_ram": (MaxRAM, RSSValues),
    "max_gpu_ram": (MaxGPURAM, None),
    "cpu_utilization": (CPUUtilization, ProcessingUnitPercentages),
    "gpu_utilization": (GPUUtilization, ProcessingUnitPercentages),
    "compute_time": (ComputeTime, None),
}


@dclass.dataclass
class ResourceUsage:
    """
    The usage. A value that could not be measured is None.

    :param max_ram: The most RAM used at any time.
    :param max_gpu_ram: The most GPU RAM used at any time.
    :param cpu_utilization: How busy CPU cores were, and the most threads.
    :param gpu_utilization: How busy GPUs were.
    :param compute_time: How long tracking took.
    """
    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime

    @classmethod
    def from_json(cls, json_map: dict[str, dict]) -> ResourceUsage:
        """Reads the output of `Tracker.to_json()`, `resource-tracker summary --layout gpu_tracker --json` or
        gpu_tracker.
        """
        parts = {}
        for name, (kind, group) in _PARTS.items():
            parts[name] = kind(**{key: group(**value) if isinstance(value, dict) else value
                                  for key, value in json_map[name].items()})
        return cls(**parts)

    def forget_processes(self) -> None:
        """Fills the figures of a session without a process: the process's figures are 0, and so is the time."""
        for part in (self.max_ram, self.max_gpu_ram, self.cpu_utilization):
            for field in dclass.fields(part):
                name = field.name.replace("_n_threads", "")
                if name in ("main", "descendants", "combined"):
                    value: typ.Any = getattr(part, field.name)
                    setattr(part, field.name, type(value)() if dclass.is_dataclass(value) else 0 if "_n_" in field.name else 0.0)
        self.compute_time.time = 0.0

    def __str__(self) -> str:
        return engine.text_of(dclass.asdict(self))


def read_resource_usage(recording: str, ram_unit: str = "gigabytes", gpu_ram_unit: str = "gigabytes", time_unit: str = "hours",
                        n_expected_cores: int | None = None, gpu_uuids: set[str] | None = None) -> ResourceUsage:
    """Returns the same figures for any recording, such as the resource_usage_file that an interrupted Tracker left
    behind.
    """
    layout = engine.Layout(ram_unit, gpu_ram_unit, time_unit, n_expected_cores, gpu_uuids)
    return ResourceUsage.from_json(engine.figures(recording, layout))
