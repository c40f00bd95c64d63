"""Records one step of a flow."""
from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import typing as typ

from ..tracker import ResourceTracker
from .artifact import TrackedResources, compressed, historical_stats, step_stats

RECORDING = "step.jsonl"
# The first samples hold everything known about the machine; a GPU's driver answers a little later.
HEAD_SAMPLES = 3
UNKNOWN_CLOUD = {"vendor": "unknown", "instance_type": "unknown", "region": "unknown", "discovery_time": 0.0}


class StepRecorder:
    """Records this process with its descendants, and its machine, from now on. Streams if SENTINEL_API_TOKEN is set."""

    def __init__(self, interval: float = 1.0, discover_cloud: bool = False, prices: dict | None = None, **metadata: typ.Any):
        """
        `metadata`: settings of the job, such as job_name and external_run_id; None is left out. `prices`: options for
        the card's costs (usd_per_hour, catalogue, instance).
        """
        self._discover_cloud = discover_cloud
        self._prices = {name: value for name, value in (prices or {}).items() if value is not None}
        self._tracker: typ.Any = None
        self._folder = tempfile.mkdtemp(prefix="resource-tracker-step-")
        self._path = os.path.join(self._folder, RECORDING)
        try:
            # In the setting, % begins a placeholder.
            self._tracker = ResourceTracker(
                interval=interval, autostart=True, discover_server=False, discover_cloud=False, output_file=self._path.replace("%", "%%"),
                settings={"format": "json", "static_once": True, **metadata})
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> str:
        """The recording, which grows while the step runs."""
        return self._path

    def stop(self, failed: bool = False) -> None:
        """Takes the last sample."""
        self._tracker.stop(exit_code=int(failed), run_status="failed" if failed else "finished")

    def finish(self, failed: bool, earlier_runs: list[dict]) -> TrackedResources:
        """Stops unless it has stopped, and returns the artifact. `earlier_runs`: the statistics of each."""
        from .. import _analysis

        self.stop(failed)
        stats = json.loads(_analysis.stats(self._path))
        return TrackedResources({
            "cloud_info": self._cloud(), "server_info": self._server(), "stats": step_stats(stats),
            "historical_stats": historical_stats(earlier_runs), "historical_runs": earlier_runs, "step_failed": failed,
            "step_stats": stats, "recording": compressed(self._path), **({"prices": self._prices} if self._prices else {})})

    def close(self) -> None:
        """Ends the recording and removes its file."""
        try:
            if self._tracker is not None:
                self._tracker.cleanup()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _cloud(self) -> dict:
        if not self._discover_cloud:
            return dict(UNKNOWN_CLOUD)
        from ..cloud_info import get_cloud_info

        return get_cloud_info()

    def _server(self) -> dict:
        """Returns server_info with the keys of all versions of the Python package."""
        from .. import _analysis

        head = self._path + ".head"
        with open(self._path, "rb") as whole, open(head, "wb") as part:
            part.writelines(itertools.islice(whole, HEAD_SAMPLES))
        server = json.loads(_analysis.snapshot_dumps(head))["server_info"]
        server["allocation"] = json.loads(_analysis.recommend(self._path))["allocation"]
        return {**server, "memory_mb": server.get("memory_mib"), "gpu_memory_mb": server.get("gpu_memory_mib")}
