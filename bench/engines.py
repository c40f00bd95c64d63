"""Engines that take OTLP, for bench/otlp: where they come from, how they start, and how they are asked."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request

DEBIAN = {"promtool": "prometheus", "prometheus": "prometheus", "victoria-metrics": "victoria-metrics"}


class CannotHave(Exception):
    """This machine cannot have the engine, and why."""


def run(command, limit_secs, **popen):
    try:
        result = subprocess.run(command, timeout=max(1, limit_secs), capture_output=True, text=True, **popen)
    except (OSError, subprocess.TimeoutExpired) as wrong:
        raise CannotHave(f"{command[0]}: {wrong}") from wrong
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise CannotHave(f"{' '.join(command[:3])}: {last}")
    return result.stdout


def from_go(folder, module, package, name, limit_secs, *further):
    """Builds a program from the Go module proxy, once for a folder. go install refuses some modules, so a copy is built."""
    program, until = folder / name, time.monotonic() + limit_secs
    if program.exists():
        return program
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if not go:
        raise CannotHave("Go is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "GOPATH": str(folder / "go"), "GOCACHE": str(folder / "cache"), "GOFLAGS": "-modcacherw",
           "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    found = json.loads(run([go, "mod", "download", "-json", module], limit_secs, env=env, cwd=folder))
    source = folder / "source" / name
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(found["Dir"], source)
    for path in [source, *source.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    run([go, "build", "-mod=mod", *further, "-trimpath", "-ldflags", "-s -w", "-o", str(program), package],
        until - time.monotonic(), env=env, cwd=source)
    for used in folder / "go", folder / "cache", folder / "source":
        shutil.rmtree(used, ignore_errors=True)
    return program


def from_debian(folder, name, limit_secs=60):
    """A program of a Debian package, unpacked below the folder: nothing is installed, and no daemon starts."""
    found = shutil.which(name)
    if found:
        return pathlib.Path(found)
    root = folder / "debian"
    if not (root / "usr" / "bin" / name).exists():
        root.mkdir(parents=True, exist_ok=True)
        run(["apt-get", "download", DEBIAN[name]], limit_secs, cwd=root)
        for package in root.glob(DEBIAN[name] + "_*.deb"):
            run(["dpkg", "-x", str(package), str(root)], limit_secs)
    return root / "usr" / "bin" / name


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Engine:
    """A running engine. `label` is the label with a run's identity."""

    label, job_label = "service_instance_id", "service_name"

    def __init__(self, program, folder):
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / "log", "wb")
        self.process = subprocess.Popen([str(program), *self.arguments()], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, cwd=folder)
        until = time.monotonic() + 30
        while not self.answers():
            if time.monotonic() > until or self.process.poll() is not None:
                self.close()
                raise CannotHave(f"{program} does not start: {(folder / 'log').read_text()[-200:]}")
            time.sleep(0.05)

    def answers(self):
        with contextlib.suppress(OSError):
            return self.get(self.ready)
        return None

    def get(self, path, **fields):
        data = urllib.parse.urlencode(fields).encode() if fields else None
        return self.post(path, data)

    def post(self, path, data, **headers):
        request = urllib.request.Request(self.url + path, data, {name.replace("_", "-"): value for name, value in headers.items()})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read() or b"ok"

    def flush(self):
        pass

    def query(self, query, at=None):
        """The result of an instant query as {labels: value}; `at`: seconds since 1970."""
        fields = {"query": query, **({"time": f"{at:.3f}"} if at else {})}
        return {tuple(sorted(one["metric"].items())): float(one["value"][1])
                for one in json.loads(self.get("/api/v1/query", **fields))["data"]["result"]}

    def by_run(self, query, at=None):
        return {dict(labels)[self.label]: value for labels, value in self.query(query, at).items()}

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class VictoriaMetrics(Engine):
    title, otlp, ready = "VictoriaMetrics", "/opentelemetry", "/health"

    def arguments(self):
        return [f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=1y",
                "-opentelemetry.usePrometheusNaming", "-search.latencyOffset=0s", "-dedup.minScrapeInterval=1ms"]

    def flush(self):
        self.get("/internal/force_flush")

    @staticmethod
    def program(folder, limit_secs):
        module = "github.com/VictoriaMetrics/VictoriaMetrics@v1.110.0"
        return from_go(folder, module, "./app/victoria-metrics", "victoria-metrics-1.110", limit_secs)


class Prometheus(Engine):
    """With a window for old points, as docs/OTLP.md says."""

    title, otlp, ready, label, job_label = "Prometheus", "/api/v1/otlp", "/-/ready", "instance", "job"
    configuration = "storage: {tsdb: {out_of_order_time_window: 30d}}\n"

    def arguments(self):
        (self.folder / "prometheus.yml").write_text(self.configuration)
        return ["--config.file=prometheus.yml", "--storage.tsdb.path=data", f"--web.listen-address=127.0.0.1:{self.port}",
                "--web.enable-otlp-receiver"]

    @staticmethod
    def program(folder, limit_secs):
        """$PROMETHEUS; that of the path, if it takes OTLP (2.47 and later); else built, which takes some 8 minutes of CPU."""
        if os.environ.get("PROMETHEUS"):
            return pathlib.Path(os.environ["PROMETHEUS"]).resolve()
        found = shutil.which("prometheus")
        version = re.search(r"version (\d+)\.(\d+)", run([found, "--version"], 20) if found else "")
        if version and tuple(map(int, version.groups())) >= (2, 47):
            return pathlib.Path(found)
        if limit_secs < 600 and not (folder / "prometheus-3.8").exists():
            raise CannotHave("no Prometheus with OTLP here ($PROMETHEUS names one), and building it takes longer than the limit")
        return from_go(folder, "github.com/prometheus/prometheus@v0.308.0", "./cmd/prometheus", "prometheus-3.8", limit_secs,
                       "-tags", "remove_all_sd")


class DefaultPrometheus(Prometheus):
    """Without the window: it refuses points that it has, and old ones."""

    title, configuration = "Prometheus by default", "global: {}\n"


class DebianVictoriaMetrics(VictoriaMetrics):
    """Takes no OTLP, but exports: text of OpenMetrics, and lines of InfluxDB."""

    title, label = "VictoriaMetrics of Debian", "instance"

    def arguments(self):
        return [f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=1y",
                "-search.latencyOffset=0s", "-influxSkipSingleField"]

    @staticmethod
    def program(folder, limit_secs):
        return from_debian(folder, "victoria-metrics", min(limit_secs, 60))


class DebianPrometheus(Prometheus):
    """Takes no OTLP, but blocks that promtool makes of OpenMetrics; `data` has them."""

    title = "Prometheus of Debian"

    def arguments(self):
        return [argument for argument in super().arguments() if "otlp" not in argument]

    @staticmethod
    def program(folder, limit_secs):
        return from_debian(folder, "prometheus", min(limit_secs, 60))


ENGINES = [VictoriaMetrics, Prometheus, DefaultPrometheus]
