"""A receiver of OTLP/HTTP for tests, with a decoder that accounts for every byte; Python's standard library only.

    receiver = Receiver()            # listens on 127.0.0.1, in threads; trouble as in sentinel.py
    receiver.url; receiver.runs[run_id][name, attributes] -> Series; receiver.logs; receiver.resources

Run as a program it serves until it is killed, and prints what it is sent: otlp.py [PORT]
"""
import collections
import gzip
import json
import struct
import sys
import threading

import sentinel
from varints import take_varint

# The messages, by field number: name and type. A type in capitals is a message, with * it may come several times.
MESSAGES = {
    "METRICS": {1: ("resource", "RESOURCE_METRICS*")},
    "RESOURCE_METRICS": {1: ("resource", "RESOURCE"), 2: ("scopes", "SCOPE_METRICS*")},
    "SCOPE_METRICS": {1: ("scope", "SCOPE"), 2: ("metrics", "METRIC*")},
    "METRIC": {1: ("name", "text"), 3: ("unit", "text"), 5: ("gauge", "GAUGE"), 7: ("sum", "SUM")},
    "GAUGE": {1: ("points", "POINT*")},
    "SUM": {1: ("points", "POINT*"), 2: ("temporality", "varint"), 3: ("monotonic", "varint")},
    "POINT": {2: ("start", "fixed"), 3: ("time", "fixed"), 4: ("value", "real"), 7: ("attributes", "PAIR*"), 8: ("flags", "varint")},
    "LOGS": {1: ("resource", "RESOURCE_LOGS*")},
    "RESOURCE_LOGS": {1: ("resource", "RESOURCE"), 2: ("scopes", "SCOPE_LOGS*")},
    "SCOPE_LOGS": {1: ("scope", "SCOPE"), 2: ("records", "RECORD*")},
    "RECORD": {1: ("time", "fixed"), 2: ("severity", "varint"), 3: ("severity_text", "text"), 5: ("body", "VALUE"),
               6: ("attributes", "PAIR*"), 9: ("trace", "bytes"), 10: ("span", "bytes"), 11: ("observed", "fixed"), 12: ("event", "text")},
    "RESOURCE": {1: ("attributes", "PAIR*")},
    "SCOPE": {1: ("name", "text"), 2: ("version", "text")},
    "PAIR": {1: ("key", "text"), 2: ("value", "VALUE")},
    "VALUE": {1: ("text", "text"), 2: ("flag", "varint"), 3: ("count", "varint"), 4: ("real", "real")},
}
WIRES = {"varint": 0, "fixed": 1, "real": 1}


def decode(kind, data):
    """The message as a dictionary. Each byte must belong to a known field of the right type that comes once, or may repeat."""
    fields, message, at = MESSAGES[kind], {}, 0
    while at < len(data):
        tag, at = take_varint(data, at)
        assert tag >> 3 in fields, f"field {tag >> 3} of {kind}"
        name, form = fields[tag >> 3]
        several, form = form.endswith("*"), form.rstrip("*")
        assert tag & 7 == WIRES.get(form, 2), f"wire type {tag & 7} of {kind}.{name}"
        if form == "varint":
            value, at = take_varint(data, at)
        elif form in WIRES:
            [value] = struct.unpack_from("<d" if form == "real" else "<Q", data, at)
            at += 8
        else:
            length, at = take_varint(data, at)
            part, at = data[at:at + length], at + length
            assert len(part) == length, f"{kind}.{name} is cut"
            value = part if form == "bytes" else part.decode() if form == "text" else decode(form, part)
        if several:
            message.setdefault(name, []).append(value)
        else:
            assert name not in message, f"{kind}.{name} comes twice"
            message[name] = value
    return message


def attributes(pairs):
    result = {}
    for pair in pairs:
        [(kind, value)] = pair["value"].items()
        assert pair["key"] not in result, pair["key"]
        result[pair["key"]] = bool(value) if kind == "flag" else value
    return result


class Series:
    """The points of one series of one run: {time: value}; None is the mark of the end."""

    def __init__(self, form, unit):
        self.form, self.unit, self.start, self.points = form, unit, None, {}

    def add(self, point):
        value = None if point.get("flags") else point["value"]
        assert "flags" not in point or (point["flags"] == 1 and "value" not in point)
        assert self.form == "gauge" or self.start in (None, point["start"]), "the start of a series moves"
        self.start = point.get("start")
        assert self.points.setdefault(point["time"], value) == value, "a point comes again with another value"

    @property
    def values(self):
        return [value for _, value in sorted(self.points.items()) if value is not None]

    def check(self):
        """Ends with its mark, and never goes back if it is a counter, which has no other mark."""
        times = sorted(self.points)
        assert self.points[times[-1]] is None
        assert self.form != "counter" or None not in [self.points[time] for time in times[:-1]]
        if self.form == "counter":
            assert times[0] == self.start and self.points[times[0]] == 0
            assert self.values == sorted(self.values)


class Receiver(sentinel.Owner):
    """By default takes everything. `trouble` is called with each request, as in sentinel.py."""

    def __init__(self, **server):
        self.lock = threading.Lock()
        self.runs, self.logs, self.resources, self.taken = collections.defaultdict(dict), [], {}, []
        self.faults = []  # what was wrong with a request; close() fails if there is any
        super().__init__(**server)

    def respond(self, handler, request):
        whole = len(request["body"]) == int(request["headers"].get("Content-Length", 0))
        if self.stopped.is_set() or not whole:  # a connection from before; a sender that was killed
            handler.reset()
            return
        try:
            self.take(handler, request)
        except ConnectionError:  # the sender has ended before it got its answer
            pass
        except Exception as wrong:  # a test must hear of it, whatever it is
            self.faults.append(repr(wrong))
            handler.answer(400, repr(wrong).encode(), content_type="text/plain")

    def close(self):
        super().close()
        assert not self.faults, self.faults

    def take(self, handler, request):
        body = request["body"]
        assert request["method"] == "POST"
        assert request["headers"]["Content-Type"] == "application/x-protobuf"
        if request["headers"].get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        with self.lock:
            if request["path"].endswith("/v1/metrics"):
                self.take_metrics(decode("METRICS", body))
            elif request["path"].endswith("/v1/logs"):
                self.take_logs(decode("LOGS", body))
            else:
                handler.answer(404, b"no such address", content_type="text/plain")
                return
            self.taken.append(request)
        handler.answer(200, b"", content_type="application/x-protobuf")

    def take_resource(self, message):
        resource = attributes(message["resource"]["attributes"])
        assert self.resources.setdefault(resource["service.instance.id"], resource) == resource
        return resource["service.instance.id"]

    def take_metrics(self, request):
        for message in request["resource"]:
            run = self.runs[self.take_resource(message)]
            for scope in message["scopes"]:
                assert scope["scope"]["name"] == "resource-tracker"
                names = [metric["name"] for metric in scope["metrics"]]
                assert len(names) == len(set(names))
                for metric in scope["metrics"]:
                    self.take_metric(run, metric)

    @staticmethod
    def take_metric(run, metric):
        assert ("gauge" in metric) != ("sum" in metric)
        data = metric.get("gauge") or metric["sum"]
        assert "gauge" in metric or data["temporality"] == 2
        form = "gauge" if "gauge" in metric else "counter" if data.get("monotonic") else "level"
        for point in data["points"]:
            assert ("start" in point) == (form != "gauge")
            key = (metric["name"], tuple(sorted(attributes(point.get("attributes", [])).items())))
            series = run.setdefault(key, Series(form, metric.get("unit", "")))
            assert (series.form, series.unit) == (form, metric.get("unit", ""))
            series.add(point)

    def take_logs(self, request):
        for message in request["resource"]:
            run = self.take_resource(message)
            for scope in message["scopes"]:
                for record in scope["records"]:
                    self.logs.append({**record, "run": run, "attributes": attributes(record.get("attributes", []))})

    @property
    def run(self):
        [run] = self.runs.values()
        return run


def find(run, name, **labels):
    """The series of a name whose attributes have these values."""
    [series] = [series for (found, pairs), series in run.items()
                if found == name and set(labels.values()) <= {value for _, value in pairs}]
    return series


def count_points(body):
    """The points of a compressed request."""
    request = decode("METRICS", gzip.decompress(body))
    return sum(len((metric.get("gauge") or metric["sum"])["points"]) for message in request["resource"]
               for scope in message["scopes"] for metric in scope["metrics"])


def main():
    receiver = Receiver(port=int(sys.argv[1]) if len(sys.argv) > 1 else 4318)
    print(receiver.url, flush=True)
    seen = 0
    while True:
        threading.Event().wait(0.5)
        with receiver.lock:
            news, seen = receiver.taken[seen:], len(receiver.taken)
        for request in news:
            body = request["body"]
            body = gzip.decompress(body) if request["headers"].get("Content-Encoding") == "gzip" else body
            print(request["path"], json.dumps(decode("LOGS" if "logs" in request["path"] else "METRICS", body), indent=1, default=bytes.hex), flush=True)


if __name__ == "__main__":
    main()
