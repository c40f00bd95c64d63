#!/usr/bin/python3
"""A real S3 server for tests: OpenStack Swift with its S3 API, all of it in this one process on loopback.

    sentinel_s3.py FOLDER      prints "ready PORT"; serves until it is killed

Swift verifies AWS Signature Version 4 over the headers that the request lists, checks the hash of the body and the
age of the request, and stores the objects (in memory). It does not know session tokens. A filter before it acts
as Amazon does, with the tokens that FOLDER/tokens lists (KEY TOKEN [EXPIRES], a line each): it refuses a
request if the token is not that of its key, is not covered by the signature, or has expired.

Access keys are test:0 to test:7, the secret of all is SECRET.
"""
import os
import pathlib
import re
import sys
import time
from array import array

import eventlet

eventlet.monkey_patch(thread=False)

from eventlet import wsgi  # noqa: E402
from swift.common import ring, storage_policy, utils, wsgi as swift_wsgi  # noqa: E402

USERS = 8
SECRET = "secret/+key"

CONF = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors session gatekeeper listing_formats s3api tempauth slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:session]
paste.filter_factory = sentinel_s3:session_filter
folder = {folder}
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = eu-central-1
auth_pipeline_check = false
[filter:tempauth]
use = egg:swift#tempauth
{users}
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
"""


class Memory:
    """The proxy's memcache."""

    def __init__(self):
        self.items = {}

    def set(self, key, value, **_):
        self.items[key] = value

    def get(self, key, **_):
        return self.items.get(key)

    def incr(self, key, delta=1, **_):
        self.items[key] = self.items.get(key, 0) + delta
        return self.items[key]

    def delete(self, key, **_):
        self.items.pop(key, None)


def refuse(start_response, status, code, message, headers=()):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
    start_response(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body))), *headers])
    return [body]


def session_filter(conf, folder, **_):
    memory, tokens_file = Memory(), pathlib.Path(folder) / "tokens"

    def tokens():
        lines = (line.split() for line in tokens_file.read_text().splitlines())
        return {key: (token, float(rest[0]) if rest else float("inf")) for key, token, *rest in lines}

    def wrap(app):
        def session(environ, start_response):
            environ["swift.cache"] = memory
            if environ["REQUEST_METHOD"] == "HEAD" and "HTTP_AUTHORIZATION" not in environ:
                # Amazon reports a bucket's region in every answer.
                start_response("403 Forbidden", [("x-amz-bucket-region", "eu-central-1"), ("Content-Length", "0")])
                return [b""]
            found = re.match(r"AWS4-HMAC-SHA256 Credential=([^/]+)/.*SignedHeaders=([^,]+),",
                             environ.get("HTTP_AUTHORIZATION", ""))
            if found:
                token, expires = tokens().get(found[1], (None, 0))
                if environ.get("HTTP_X_AMZ_SECURITY_TOKEN") != token:
                    return refuse(start_response, "400 Bad Request", "InvalidToken", "The provided token is malformed")
                if token and "x-amz-security-token" not in found[2].split(";"):
                    return refuse(start_response, "403 Forbidden", "AccessDenied", "The token is not signed")
                if time.time() > expires:
                    return refuse(start_response, "400 Bad Request", "ExpiredToken", "The provided token has expired.")
            return app(environ, start_response)

        return session

    return wrap


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "srv" / "d1").mkdir(parents=True, exist_ok=True)
    (folder / "tokens").touch()
    (folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n"
                                       "[storage-policy:0]\nname = one\ndefault = yes\n")
    utils.HASH_PATH_SUFFIX, utils.HASH_PATH_PREFIX = b"a", b"b"
    utils.SWIFT_CONF_FILE = storage_policy.SWIFT_CONF_FILE = str(folder / "swift.conf")
    storage_policy.reload_storage_policies()
    from swift.account.server import AccountController
    from swift.container.server import ContainerController
    from swift.obj.mem_server import ObjectController

    conf = {"devices": str(folder / "srv"), "swift_dir": str(folder), "mount_check": "false", "log_level": "ERROR"}
    quiet = open(os.devnull, "w")
    for kind, controller in (("account", AccountController), ("container", ContainerController),
                             ("object", ObjectController)):
        listener = eventlet.listen(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        device = {"id": 0, "zone": 0, "region": 1, "device": "d1", "ip": "127.0.0.1", "port": port,
                  "replication_ip": "127.0.0.1", "replication_port": port, "weight": 1.0}
        ring.RingData([array("H", [0])], [device], 32).save(str(folder / f"{kind}.ring.gz"))
        eventlet.spawn(wsgi.server, listener, controller(conf), quiet, log_output=False)
    users = "\n".join(f"user_test_{number} = {SECRET} .admin" for number in range(USERS))
    (folder / "proxy.conf").write_text(CONF.format(folder=folder, users=users))
    sys.modules["sentinel_s3"] = sys.modules["__main__"]
    app = swift_wsgi.loadapp(str(folder / "proxy.conf"))
    listener = eventlet.listen(("127.0.0.1", 0), backlog=64)
    print(f"ready {listener.getsockname()[1]}", flush=True)
    wsgi.server(listener, app, quiet, log_output=False, keepalive=True)


if __name__ == "__main__":
    main()
