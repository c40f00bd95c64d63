"""Records this program while it works, and prints its resource use and the resources to request next time.

    python standalone.py [REPORT.html]
"""
import sys
from hashlib import sha256
from subprocess import run

from resource_tracker_native import ResourceTracker


def work() -> None:
    """Uses memory and CPU, partly in this process and partly in children that exit before the next sample."""
    block = bytes(64 << 20)
    for _ in range(5):
        sha256(block).hexdigest()
    for _ in range(20):
        run([sys.executable, "-S", "-c", "sum(range(200_000))"], check=True)


with ResourceTracker(interval=0.1, discover_cloud=False) as tracker:
    work()

print(tracker.process_metrics[["timestamp", "cpu_usage", "memory_mib", "children"]].tail(3))
stats, server = tracker.stats(), tracker.server_info or {}
print(f"{stats['timestamp']['duration']:.1f} s, {stats['process_cpu_usage']['mean']} cores,",
      f"at most {stats['process_memory_mib']['max']} MiB on a {server.get('allocation')} machine")
print("to request next time:", tracker.recommend_resources())
if len(sys.argv) > 1:
    tracker.report().save(sys.argv[1])
