"""libresource-tracker-analysis for Python, defined in native/analysis_*.c. Paths name recordings of any format."""
from os import PathLike
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

Path = Union[str, bytes, "PathLike[str]"]
Paths = Union[Path, Sequence[Path]]

def read_csv(path: Path, /) -> Dict[str, List[Any]]: ...
def read_record(paths: Paths, columns: Sequence[str] = ...) -> Dict[str, List[Any]]: ...
def stats(paths: Paths, /) -> str: ...
def summary(
    paths: Paths,
    form: str = "json",
    uuids: Optional[Sequence[str]] = None,
    ram_unit: Optional[str] = None,
    gpu_ram_unit: Optional[str] = None,
    time_unit: Optional[str] = None,
    expected_cores: float = 0,
    expected_gpus: float = 0,
) -> str: ...
def recommend(
    paths: Paths,
    form: str = "json",
    force: bool = False,
    usd_per_hour: float = 0,
    catalogue: Optional[str] = None,
    filters: Sequence[str] = ...,
    policy: str = "max",
    job: Optional[str] = None,
    task: Optional[str] = None,
    input_bytes: float = 0,
    attempt: int = 1,
) -> str: ...
def round_memory_mib(mib: float, /) -> int: ...
def report(
    paths: Paths,
    output: Path,
    integration: Optional[str] = None,
    failed: bool = False,
    usd_per_hour: float = 0,
    history: Paths = ...,
    succeeded: bool = False,
    catalogue: Optional[Path] = None,
    instance: Optional[str] = None,
    filters: Sequence[str] = ...,
) -> None: ...
def export(
    paths: Paths,
    output: Path,
    format: Optional[str] = None,
    layout: Optional[str] = None,
    no_header: bool = False,
    ram_unit: Optional[str] = None,
    gpu_ram_unit: Optional[str] = None,
    time_unit: Optional[str] = None,
    expected_cores: float = 0,
    expected_gpus: float = 0,
    gpu_uuids: Optional[Sequence[str]] = None,
) -> None: ...
def snapshot_dumps(paths: Paths, /) -> str: ...
def regions(paths: Paths, marks: Optional[Path] = None, columns: Sequence[str] = ..., form: str = "json") -> str: ...
def regions_gpu_tracker(
    tracking_file: Optional[Path], sub_tracking_file: Optional[Path], form: str = "json"
) -> str: ...
def calls_gpu_tracker(sub_tracking_file: Path, /) -> List[Tuple[str, List[Tuple[float, float]]]]: ...
def compare(runs: Sequence[Tuple[str, Path]], form: str = "json") -> str: ...
def combine(paths: Paths, output: Path) -> None: ...
def run_line(recording: Path, /) -> str: ...
def append_run(runs: Path, recording: Path, /) -> None: ...
