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
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "fakes"))
import otlp  # noqa: E402

DEBIAN = {"promtool": "prometheus", "prometheus": "prometheus", "victoria-metrics": "victoria-metrics"}


class CannotHave(Exception):
    """This machine cannot have the engine, and why."""


def run(command, limit_secs, **popen):
    try:
        result = subprocess.run(command, timeout=max(1, limit_secs), capture_output=True, text=True, **popen)
    except (OSError, subprocess.TimeoutExpired) as wrong:
        raise CannotHave(f"{command[0]}: {wrong}") from wrong
    if result.returncode:
        said = re.findall(r'"Error": "(.*)"', result.stdout) or result.stderr.strip().splitlines()
        last = (said or ["no message"])[-1]
        raise CannotHave(f"{' '.join(command[:3])}: {last}")
    return result.stdout


@contextlib.contextmanager
def building(folder, keep=False):
    """The environment for Go. Nothing but the program stays of a build, unless `keep`; of one that fails, the packages that are built
    stay.
    """
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if not go:
        raise CannotHave("Go is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "source", ignore_errors=True)
    yield {**os.environ, "PATH": f"{pathlib.Path(go).parent}:{os.environ['PATH']}", "GOPATH": str(folder / "go"),
           "GOCACHE": str(folder / "cache"), "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    for used in () if keep else (folder / "go", folder / "cache", folder / "source"):
        shutil.rmtree(used, ignore_errors=True)


def from_go(folder, module, package, name, limit_secs, *further):
    """Builds a program from the Go module proxy, once for a folder. go install refuses some modules, so a copy is built."""
    program, until = folder / name, time.monotonic() + limit_secs
    if program.exists():
        return program
    with building(folder) as env:
        found = json.loads(run(["go", "mod", "download", "-json", module], limit_secs, env=env, cwd=folder))
        source = folder / "source" / name
        shutil.copytree(found["Dir"], source)
        for path in [source, *source.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        run(["go", "build", "-mod=mod", *further, "-trimpath", "-ldflags", "-s -w", "-o", str(program), package],
            until - time.monotonic(), env=env, cwd=source)
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


def unpacked(folder, name, limit_secs, *packages, only_here=False):
    """A program of Debian packages with the libraries that it needs, below the folder: nothing is installed. One that the machine has
    is preferred, unless the other packages are wanted here.
    """
    found = shutil.which(name)
    if found and not only_here:
        return pathlib.Path(found)
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run(["apt-get", "download", *packages], limit_secs, cwd=folder)
        for package in folder.glob("*.deb"):
            run(["dpkg", "-x", str(package), str(folder)], limit_secs)
        real = next((path for path in (folder / "usr" / "bin" / name, folder / "usr" / "sbin" / name) if path.exists()), None)
        if not real:
            raise CannotHave(f"{name} is not in {packages[0]}")
        libraries = ":".join(map(str, folder.glob("usr/lib/*-linux-gnu*")))
        program.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {real} "$@"\n')
        program.chmod(0o755)
    return program


def get_all(getters, tools, end):
    """Gets each engine by its function of (folder, seconds that are left), and says which cannot be had. Returns 0."""
    for get in getters:
        try:
            get(tools, left=lambda: max(1.0, end - time.monotonic()))
        except (CannotHave, subprocess.TimeoutExpired) as reason:
            print(f"not got: {reason}", flush=True)
    return 0


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Engine:
    """A running engine. `label` is the label with a run's identity."""

    label, job_label = "service_instance_id", "service_name"

    def __init__(self, program, folder):
        self.program, self.folder, self.port = program, folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / "log", "wb")
        self.start()

    def start(self):
        self.process = subprocess.Popen([str(self.program), *self.arguments()], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, cwd=self.folder)
        until = time.monotonic() + 30
        while not self.answers():
            if time.monotonic() > until or self.process.poll() is not None:
                self.close()
                raise CannotHave(f"{self.program} does not start: {(self.folder / 'log').read_text()[-200:]}")
            time.sleep(0.05)

    def restart(self, pause_secs):
        """Stops the engine and starts it again, on the same port and with the same data."""
        self.stop()
        time.sleep(pause_secs)
        self.start()

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

    def figure(self, figure, runs):
        """A figure of bench/otlp, for each run."""
        selector = f'{self.label}=~"{"|".join(runs)}"'
        found = self.query(figure.query.replace("RUNS", selector).replace("LABEL", self.label))
        return {dict(labels)[self.label]: value for labels, value in found.items()}

    def visible(self):
        """The number of series that have a value now."""
        return sum(self.query('count({__name__=~"process_.*|resource_tracker_.*"})').values())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def close(self):
        self.stop()
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


COLLECTOR = "0.155.0"
PARTS = f"""
dist: {{name: otelcol, output_path: SOURCE}}
receivers: [{{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v{COLLECTOR}}}]
exporters: [{{gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v{COLLECTOR}}}]
"""
# Without a queue, the collector answers when the next receiver has answered.
PASSES_ON = """
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:PORT"}}}}
exporters:
  otlp_http/metrics: {endpoint: "METRICS", sending_queue: {enabled: false}}
  otlp_http/logs: {endpoint: "LOGS", sending_queue: {enabled: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [otlp_http/metrics]}
    logs: {receivers: [otlp], exporters: [otlp_http/logs]}
"""


class Collector(Engine):
    """An OpenTelemetry collector. It passes the metrics on to a VictoriaMetrics, which answers the queries, and the log records
    to the decoder of the tests."""

    title, otlp = "OpenTelemetry collector", ""

    def __init__(self, programs, folder):
        self.store, self.records = VictoriaMetrics(programs[1], folder / "store"), otlp.Receiver()
        try:
            super().__init__(programs[0], folder)
        except CannotHave:
            self.close_store()
            raise

    def arguments(self):
        text = PASSES_ON
        for name, value in (("PORT", str(self.port)), ("METRICS", self.store.url + "/opentelemetry"), ("LOGS", self.records.url)):
            text = text.replace(name, value)
        (self.folder / "collector.yaml").write_text(text)
        return ["--config=collector.yaml"]

    def answers(self):
        """Its receiver takes POST alone, so that any answer to GET is one."""
        try:
            self.get("/v1/metrics")
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def flush(self):
        self.store.flush()

    def query(self, query, at=None):
        return self.store.query(query, at)

    def close_store(self):
        self.store.close()
        self.records.close()

    def close(self):
        super().close()
        self.close_store()

    @staticmethod
    def program(folder, limit_secs):
        """The collector's builder makes it of two parts, which takes some 2 minutes of CPU."""
        until = time.monotonic() + limit_secs
        store, program = VictoriaMetrics.program(folder, limit_secs), folder / f"otelcol-{COLLECTOR}"
        if program.exists():
            return program, store
        builder = from_go(folder, f"go.opentelemetry.io/collector/cmd/builder@v{COLLECTOR}", ".", f"builder-{COLLECTOR}",
                          until - time.monotonic())
        with building(folder) as env:
            source = folder / "source" / "otelcol"
            source.mkdir(parents=True, exist_ok=True)
            (folder / "source" / "parts.yaml").write_text(PARTS.replace("SOURCE", str(source)))
            run([str(builder), "--config", "parts.yaml"], until - time.monotonic(), env=env, cwd=folder / "source")
            (source / "otelcol").rename(program)
        return program, store


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


ENGINES = [VictoriaMetrics, Prometheus, DefaultPrometheus, Collector]
