"""A small server of the Sentinel API and of every metadata service, for tests; Python's standard library only.

    server = Sentinel(s3=Store(endpoint, bucket, keys))      # listens on 127.0.0.1, in threads
    server.url; server.runs[run_id].start, .finishes, .refreshes; server.requests

As strict as the real one: a member that a schema does not list, a tag that is not an object or a number as text
is answered with 422. Trouble is scripted: `server.trouble` is called with each request before it is answered and
returns the planned fault (see act()), or None.

Run as a program it serves until it is killed, and prints its address and what it is sent: an endpoint to try things with.

    sentinel.py TOKEN [PORT [s3://BUCKET/PREFIX ACCESS_KEY SECRET_KEY [SESSION_TOKEN]]]
"""
import contextlib
import datetime
import http.server
import json
import re
import socket
import ssl
import struct
import sys
import threading
import time
import uuid

START_TEXTS = ["job_name", "project_name", "stage_name", "task_name", "team", "env", "language", "orchestrator",
               "executor", "external_run_id", "container_image", "command", "host_id", "host_hostname", "host_ip",
               "host_server_allocation", "host_cpu_model", "host_gpu_model", "cloud_vendor_id", "cloud_account_id",
               "cloud_region_id", "cloud_zone_id", "cloud_instance_type"]
START_COUNTS = ["host_vcpus", "host_memory_mib", "host_gpu_count", "host_gpu_memory_mib"]


class Refusal(Exception):
    def __init__(self, status, detail):
        super().__init__(status)
        self.status, self.detail = status, detail


def problem(location, message, value):
    """Repeats the refused value in the answer, as pydantic does."""
    return {"type": "value_error", "loc": ["body", location], "msg": message, "input": value}


def check_start(body):
    problems = []
    for name, value in body.items():
        if name in START_TEXTS:
            good = value is None or isinstance(value, str)
        elif name in START_COUNTS:
            good = value is None or (isinstance(value, int) and not isinstance(value, bool))
        elif name == "host_storage_gb":
            good = value is None or isinstance(value, (int, float))
        elif name == "tags":
            good = isinstance(value, list) and all(
                isinstance(tag, dict) and set(tag) == {"key", "value"}
                and all(isinstance(text, str) for text in tag.values()) for tag in value)
        else:
            problems.append(problem(name, "Extra inputs are not permitted", value))
            continue
        if not good:
            problems.append(problem(name, "Input is of another type", value))
    if isinstance(body.get("command"), str) and not isinstance(json.loads(body["command"]), list):
        problems.append(problem("command", "Input should be the JSON text of a list", body["command"]))
    if problems:
        raise Refusal(422, problems)


def check_finish(body):
    allowed = {"inline": "data_csv", "s3": "data_uris"}.get(body.get("data_source"))
    problems = []
    if not allowed:
        problems.append(problem("data_source", "Input should be 'inline' or 's3'", body.get("data_source")))
    for name in sorted(set(body) - {"data_source", "exit_code", "run_status", "finished_at", allowed}):
        problems.append(problem(name, "Extra inputs are not permitted", body[name]))
    if allowed and allowed not in body:
        problems.append(problem(allowed, "Field required", None))
    if body.get("run_status") not in (None, "finished", "failed"):
        problems.append(problem("run_status", "Input should be 'finished' or 'failed'", body["run_status"]))
    if not isinstance(body.get("exit_code"), (int, type(None))):
        problems.append(problem("exit_code", "Input should be a valid integer", body["exit_code"]))
    if body.get("finished_at"):
        datetime.datetime.fromisoformat(body["finished_at"].replace("Z", "+00:00"))
    if problems:
        raise Refusal(422, problems)


class Run:
    def __init__(self, start):
        self.start, self.finishes, self.refreshes = start, [], 0

    @property
    def finish(self):
        assert len(self.finishes) == 1, f"finished {len(self.finishes)} times"
        return self.finishes[0]


class Store:
    """The place for objects, and the keys for it. `keys` makes new ones: (access, secret, token)."""

    def __init__(self, prefix="s3://bucket/some/prefix", keys=lambda: ("AKIA" + "X" * 16, "s" * 40, "t" * 60),
                 region="eu-central-1", expires_secs=3600, expiry_names=("expires_at",), offset_hours=0):
        self.prefix, self.keys, self.region = prefix, keys, region
        self.expires_secs, self.expiry_names, self.offset_hours = expires_secs, expiry_names, offset_hours

    def credentials(self):
        access, secret, token = self.keys()
        answer = {"access_key": access, "secret_key": secret, "session_token": token, "further": {"member": [1]}}
        if self.region:
            answer["region"] = self.region
        if self.expires_secs is not None:
            zone = datetime.timezone(datetime.timedelta(hours=self.offset_hours))
            expires = datetime.datetime.now(zone) + datetime.timedelta(seconds=self.expires_secs)
            for name in self.expiry_names:
                answer[name] = expires.isoformat()
        return answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Many tests make clients go away, so errors of that kind are silent."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20  # a half-open connection must end

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", headers=(), content_type="application/json"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if body:
            self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body,
                   "at": time.time(), "header_names": [name.lower() for name in self.headers]}
        self.owner.requests.append(request)
        trouble = self.owner.trouble(request) if self.owner.trouble else None
        if trouble is not None and self.act(trouble, request):
            return
        self.owner.respond(self, request)

    do_GET = do_POST = do_PUT = do_HEAD = serve

    def reset(self):
        """Ends the connection with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def act(self, trouble, request):
        """A planned fault: a status, (status, body), (status, body, headers), or a word. True: answered."""
        if isinstance(trouble, int):
            trouble = (trouble, {"detail": f"scripted {trouble}"})
        if isinstance(trouble, tuple):
            self.answer(*trouble)
            return True
        word, _, value = trouble.partition(" ")
        if word == "slow":  # late, but complete
            time.sleep(float(value))
            return False
        self.close_connection = True
        if word == "hang":
            self.owner.stopped.wait(float(value or 30))
        elif word == "reset":
            self.reset()
        elif word == "drip":  # one byte at a time
            with contextlib.suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not self.owner.stopped.wait(0.2):
                    self.wfile.write(b" ")
        elif word == "cut":  # in the middle of the body
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"run_id": "half')
        elif word == "huge":
            with contextlib.suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                for _ in range(100):
                    self.wfile.write(b" " * 1000000)
        elif word == "garbage":
            self.wfile.write(b"\x00\xff not http at all\r\n\r\n")
        elif word == "lost":  # done, but the answer is lost
            answer, self.wfile = self.wfile, NullFile()
            self.owner.respond(self, request)
            self.wfile = answer
            self.reset()
        else:
            raise ValueError(trouble)
        return True


class NullFile:
    def write(self, data):
        return len(data)

    def flush(self):
        pass


class Owner:
    """A server in threads of this process; .url, .requests, .trouble, close()."""

    def __init__(self, tls=None, port=0):
        handler = type("Handler", (Handler,), {"owner": self})
        self.server = Server(("127.0.0.1", port), handler)
        self.port = self.server.server_port
        scheme = "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.requests, self.trouble, self.stopped = [], None, threading.Event()
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()

    def paths(self):
        return [f"{request['method']} {request['path']}" for request in self.requests]

    def respond(self, handler, request):
        handler.answer(404, {"detail": "Not Found"})


class Sentinel(Owner):
    def __init__(self, token="test-token-1234", store=None, prefix="", **server):
        super().__init__(**server)
        self.token, self.store, self.prefix = token, store or Store(), prefix
        self.runs = {}
        self.base = self.url + prefix
        self.extra = {}  # further members of the answer to the start
        self.further_names = set()  # further members that a start may have
        self.finish_answer = None  # the answer to the end, if not the usual one
        self.idempotent, self.keys = False, {}  # whether registering a run twice returns the same run

    @property
    def run(self):
        assert len(self.runs) == 1, f"{len(self.runs)} runs"
        return next(iter(self.runs.values()))

    def respond(self, handler, request):
        try:
            handler.answer(*self.call(request))
        except Refusal as refusal:
            handler.answer(refusal.status, {"detail": refusal.detail})
        except (ValueError, KeyError) as wrong:
            handler.answer(422, {"detail": [problem("?", repr(wrong), None)]})

    def call(self, request):
        if request["headers"].get("Authorization") != f"Bearer {self.token}":
            raise Refusal(401, "Invalid token")
        path = request["path"]
        if not path.startswith(self.prefix) or request["method"] != "POST":
            raise Refusal(404, "Not Found")
        path = path[len(self.prefix):]
        if path == "/runs":
            return self.start(json.loads(request["body"]), request["headers"]["Idempotency-Key"])
        found = re.fullmatch(r"/runs/([^/]+)/(refresh-credentials|finish)", path)
        if not found or found[1] not in self.runs:
            raise Refusal(404, "Not Found")
        run = self.runs[found[1]]
        if found[2] == "finish":
            return self.finish(run, json.loads(request["body"]))
        run.refreshes += 1
        return 200, {"upload_credentials": self.store.credentials()}

    def start(self, body, key):
        check_start({name: value for name, value in body.items() if name not in self.further_names})
        run_id = self.keys.get(key) if self.idempotent else None
        if not run_id:
            run_id = self.keys[key] = str(uuid.uuid4())
            self.runs[run_id] = Run(body)
        return 200, {"run_id": run_id, "upload_uri_prefix": self.store.prefix,
                     "upload_credentials": self.store.credentials(), **self.extra}

    def finish(self, run, body):
        check_finish(body)
        run.finishes.append(body)
        return 200, self.finish_answer or {"run": {"run_status": body.get("run_status")}, "processing": {"status": "ok"}}


class Metadata(Owner):
    """One vendor's metadata service: {path: answer}, or a function of the request that returns (status, body)."""

    def __init__(self, answers, **server):
        super().__init__(**server)
        self.answers = answers

    def respond(self, handler, request):
        answer = self.answers(request) if callable(self.answers) else self.answers.get(request["path"])
        if answer is None:
            answer = (404, b"not found")
        if not isinstance(answer, tuple):
            answer = (200, answer)
        status, body, *headers = answer
        if isinstance(body, str):
            body = body.encode()
        handler.answer(status, body, *headers, content_type="text/plain")


def main():
    token, port, prefix, access, secret, session = (sys.argv[1:] + [None] * 6)[:6]
    store = Store(prefix, lambda: (access, secret, session), region=None) if prefix else None
    server = Sentinel(token=token or "x", port=int(port or 0), store=store)
    print(f"SENTINEL_API_TOKEN={server.token} SENTINEL_API_URL={server.base}", flush=True)
    try:
        while True:
            time.sleep(1)
            while server.requests:
                request = server.requests.pop(0)
                print(request["method"], request["path"], request["body"][:2000].decode("utf-8", "replace"), flush=True)
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
