"""Tells whether a job had a machine for itself."""
from __future__ import annotations

from .column_maps import SERVER_ALLOCATION_CHECKS
from .helpers import known, mean
from .tiny_data_frame import TinyDataFrame

__all__ = ["allocation_of"]


def allocation_of(process: TinyDataFrame, system: TinyDataFrame) -> str:
    """Returns "shared" if the whole machine used clearly more than the job, else "dedicated"; "unknown" without both.
    """
    for check in SERVER_ALLOCATION_CHECKS:
        if check["process_column"] not in process.columns or check["system_column"] not in system.columns:
            return "unknown"
        job, machine = known(process[check["process_column"]]), known(system[check["system_column"]])
        if not job or not machine:
            return "unknown"
        if mean(machine) > mean(job) * check["percent"] or mean(machine) > mean(job) + check["absolute"]:
            return "shared"
    return "dedicated"
