"""resource-tracker-net keeper: servers and prices of the Spare Cores Keeper API."""
import json
import pathlib
import subprocess
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from sentinel import Metadata  # noqa: E402
from sentinel_support import needs_net, net_program  # noqa: E402

pytestmark = needs_net

SERVERS = [
    {"vendor_id": "aws", "server_id": "t4g.nano", "api_reference": "t4g.nano", "display_name": "t4g.nano", "vcpus": 2,
     "memory_amount": 512, "gpu_count": 0, "min_price_ondemand": 0.0042, "further": {"x": 1}},
    {"vendor_id": "hcloud", "api_reference": "cx22 a/b", "display_name": "CX22", "vcpus": 2, "memory_amount": 4096.0,
     "gpu_count": 0, "min_price_ondemand": None},
]
PRICES = [
    {"region_id": "eu-west-1", "allocation": "spot", "operating_system": "Linux", "price": 0.01},
    {"region_id": "eu-west-1", "allocation": "ondemand", "operating_system": "Windows", "price": 0.5},
    {"region_id": "eu-west-1", "allocation": "ondemand", "operating_system": "Linux", "price": 0.11},
    {"region_id": "us-east-1", "allocation": "ondemand", "operating_system": "Linux", "price": 0.096},
]


@pytest.fixture
def ask(helpers):
    servers = []

    def run(answer, *arguments):
        env = helpers.clean_environment()
        requests = []
        if answer is not None:
            server = Metadata(lambda request: answer if isinstance(answer, tuple) else (200, json.dumps(answer)))
            servers.append(server)
            env["KEEPER_API_URL"], requests = server.url + "/v1", server.requests
        done = subprocess.run([net_program(), "keeper", *map(str, arguments)], env=env, capture_output=True, text=True,
                              timeout=20, stdin=subprocess.DEVNULL)
        return done, requests

    yield run
    for server in servers:
        server.close()


def test_servers(ask):
    done, requests = ask(SERVERS, "servers", "--vcpus", 2, "--memory-mib", 512, "--limit", 2, "--filter",
                         "vendor=aws&x", "--filter", "architecture=arm64")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["problem"] is None
    assert answer["servers"] == [
        {"vendor_id": "aws", "api_reference": "t4g.nano", "display_name": "t4g.nano", "vcpus": 2, "memory_mib": 512,
         "gpu_count": 0, "price_usd_per_hour": 0.0042, "url": "https://sparecores.com/server/aws/t4g.nano"},
        {"vendor_id": "hcloud", "api_reference": "cx22 a/b", "display_name": "CX22", "vcpus": 2, "memory_mib": 4096,
         "gpu_count": 0, "price_usd_per_hour": None, "url": "https://sparecores.com/server/hcloud/cx22%20a%2Fb"}]
    assert requests[0]["headers"]["X-Application-ID"] == "resource-tracker"
    path, query = requests[0]["path"].split("?")
    assert path == "/v1/servers" and answer["asked"].endswith(requests[0]["path"])
    assert urllib.parse.parse_qsl(query) == [
        ("vcpus_min", "2"), ("memory_min", "0.5"), ("vendor", "aws&x"), ("architecture", "arm64"),
        ("order_by", "min_price_ondemand"), ("order_dir", "asc"), ("limit", "2")]


@pytest.mark.parametrize("arguments,expected", [
    (["--vcpus", 1, "--memory-mib", 128], {"memory_min": "0.125"}),
    (["--vcpus", 1, "--memory-mib", 1000], {"memory_min": "0.977"}),  # rounded up: never less than needed
    (["--vcpus", 1, "--memory-mib", 16384], {"memory_min": "16.0"}),
    (["--vcpus", 1000, "--memory-mib", 1], {"vcpus_min": "256"}),
    (["--vcpus", 4, "--memory-mib", 1024, "--gpus", 2, "--gpu-memory-mib", 24576],
     {"gpu_min": "2", "gpu_memory_total": "24.0", "memory_min": "1.0"}),
])
def test_units(ask, arguments, expected):
    done, requests = ask([], "servers", *arguments)
    asked = dict(urllib.parse.parse_qsl(requests[0]["path"].split("?")[1]))
    assert {key: asked.get(key) for key in expected} == expected
    if "--gpus" not in arguments:
        assert not {"gpu_min", "gpu_memory_total"} & set(asked)


@pytest.mark.parametrize("region,expected", [("us-east-1", (0.096, "us-east-1")), ("mars", (0.11, "eu-west-1")),
                                             (None, (0.11, "eu-west-1"))])
def test_price(ask, region, expected):
    arguments = ["price", "--vendor", "aws", "--instance-type", "g4dn.xlarge/x"]
    done, requests = ask(PRICES, *arguments, *(["--region", region] if region else []))
    answer = json.loads(done.stdout)
    assert (answer["price_usd_per_hour"], answer["region_id"]) == expected and answer["problem"] is None
    assert requests[0]["path"] == "/v1/server/aws/g4dn.xlarge%2Fx/prices"


def test_no_such_price(ask):
    done, _ = ask(PRICES[:2], "price", "--vendor", "aws", "--instance-type", "x")
    answer = json.loads(done.stdout)
    assert answer["price_usd_per_hour"] is None and "no on-demand price" in answer["problem"]


@pytest.mark.parametrize("answer", [None, (404, b"{}"), (429, b""), (200, b"<html>"), (200, b'{"detail":[]}'),
                                    (200, b""), (500, b"x" * 100000)])
@pytest.mark.parametrize("what", ["servers", "price"])
def test_without_an_answer_the_url_of_the_question_is_shown(ask, answer, what):
    arguments = {"servers": ["--vcpus", 2, "--memory-mib", 900], "price": ["--vendor", "aws", "--instance-type", "x"]}
    done, _ = ask(answer, what, *arguments[what])
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["asked"].startswith("http://127.0.0.1:") and said["problem"]
    assert said["servers" if what == "servers" else "price_usd_per_hour"] is None


@pytest.mark.parametrize("arguments", [[], ["servers"], ["servers", "--vcpus", "2"], ["price", "--vendor", "aws"],
                                       ["servers", "--vcpus", "many", "--memory-mib", "1"],
                                       ["servers", "--vcpus", "1", "--memory-mib", "1", "--filter", "nothing"]])
def test_usage(ask, arguments):
    done, _ = ask(None, *arguments)
    assert done.returncode == 2 and "usage" in done.stderr and not done.stdout
