"""TinyDataFrame: a dictionary of lists with rows."""
import copy
import http.server
import pickle
import threading
from statistics import mean

import pytest

from resource_tracker_native import StatSpec, TinyDataFrame


@pytest.fixture
def people():
    return TinyDataFrame(data={"name": ["a", "bb", None], "x": [1, 2.5, -3], "yy": [10, 200, 3000]})


def test_from_columns_rows_and_nothing():
    assert TinyDataFrame(data=[{"a": 1}, {"b": 2}]).to_dict() == [{"a": 1, "b": None}, {"a": None, "b": 2}]
    empty = TinyDataFrame(data=[])
    assert len(empty) == 0 and str(empty).endswith("Empty dataframe") and empty.columns == []
    empty["a"] = [1, 2]
    assert len(empty) == 2
    assert TinyDataFrame(data=[]).columns == [], "tables do not share columns"
    for arguments in ({}, {"data": [], "csv_file_path": "x"}, {"data": 5}, {"csv_file_path": 5}):
        with pytest.raises(AssertionError):
            TinyDataFrame(**arguments)


def test_columns_rows_and_parts(people):
    assert people["x"] == [1, 2.5, -3]
    assert people[1] == {"name": "bb", "x": 2.5, "yy": 200} and people[-1]["yy"] == 3000
    assert people[["yy", "x"]].columns == ["yy", "x"]
    assert [row["x"] for row in people[::2]] == [1, -3]
    assert people[1:]["x"] == [2.5, -3] and people[1:3][["x"]][0]["x"] == 2.5
    assert people.head(2).to_dict() == people[:2].to_dict() and people.tail(2)["x"] == [2.5, -3]
    assert len(people.tail(0)) == len(people.head(0)) == 0
    people[["x"]]["x"][0] = 99
    assert people["x"][0] == 1, "a selection is a copy"


def test_errors(people):
    for key in ("zz", ["x", "zz"]):
        with pytest.raises(KeyError, match="zz"):
            people[key]
    for key in (1.5, (1, 2), ["x", 1]):
        with pytest.raises(TypeError):
            people[key]
    with pytest.raises(IndexError):
        people[5]
    with pytest.raises(TypeError):
        people[3] = [1, 2, 3]
    with pytest.raises(ValueError, match="1"):
        people["n"] = [1]
    with pytest.raises(KeyError, match="q"):
        people.rename({"x": "z", "q": "r"})
    with pytest.raises(ValueError, match="different names"):
        people.rename({"x": "yy"})
    assert people.columns == ["name", "x", "yy"], "nothing was renamed"


def test_columns_are_renamed_by_assignment(people):
    people.columns = ["a", "b", "c"]
    assert people.columns == ["a", "b", "c"] and people["b"] == [1, 2.5, -3]
    for names in (["a"], ["a", "a", "c"]):
        with pytest.raises(ValueError, match="3 different"):
            people.columns = names
    assert people.columns == ["a", "b", "c"]


def test_copies_and_pickles(people):
    for other in (pickle.loads(pickle.dumps(people)), copy.deepcopy(people), copy.copy(people)):
        assert other.to_dict() == people.to_dict() and other.columns == people.columns and len(other) == 3
    copy.deepcopy(people)["x"][0] = 99
    assert people["x"][0] == 1


def test_rename_keeps_the_order_and_returns_the_table(people):
    assert people.rename(columns={"x": "z"}) is people
    assert people.columns == ["name", "z", "yy"] and people["z"] == [1, 2.5, -3]


def test_printing(people):
    assert str(people) == ("TinyDataFrame with 3 rows and 3 columns:\nname | x   | yy  \n-----+-----+-----\n"
                           "a    |   1 |   10\nbb   | 2.5 |  200\nNone |  -3 | 3000")
    assert repr(people) == ("TinyDataFrame with 3 rows and 3 columns. First row as a dict: "
                            "{'name': 'a', 'x': 1, 'yy': 10}")
    assert str(TinyDataFrame(data={"a": list(range(12))})).splitlines()[-2:] == ["9", "..."]


def test_csv(people, tmp_path):
    assert people.to_csv() == '"name","x","yy"\r\n"a",1,10\r\n"bb",2.5,200\r\n"",-3,3000\r\n'
    assert people.to_csv(quote_strings=False) == "name,x,yy\r\na,1,10\r\nbb,2.5,200\r\n,-3,3000\r\n"
    path = str(tmp_path / "people.csv")
    assert people.to_csv(path) is None
    assert TinyDataFrame(csv_file_path=path)["yy"] == [10, 200, 3000]
    (tmp_path / "odd.csv").write_text("a,b,c\n1,1.0,x\n2,,inf\n3,4\n")
    odd = TinyDataFrame(csv_file_path=str(tmp_path / "odd.csv"))
    assert odd.to_dict() == [{"a": 1, "b": 1.0, "c": "x"}, {"a": 2, "b": "", "c": float("inf")},
                             {"a": 3, "b": 4, "c": None}]
    assert [type(cell) for cell in odd["b"]] == [float, str, int]
    (tmp_path / "bad.csv").write_text("a,b\n1,2,3\n")
    for name in ("bad.csv", "none.csv"):
        with pytest.raises(RuntimeError, match=f"2 attempts.*{name}"):
            TinyDataFrame(csv_file_path=str(tmp_path / name), retries=1, retry_delay=0.01)


def test_csv_from_an_address():
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"a,b\n1,x\n")

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert TinyDataFrame(csv_file_path=f"http://127.0.0.1:{server.server_port}/x.csv").to_dict() == [{"a": 1, "b": "x"}]
    finally:
        server.shutdown()
        server.server_close()


def test_stats(people, caplog):
    results = people.stats([
        StatSpec("x", mean, round=1), StatSpec("x", max), StatSpec("yy", sum), StatSpec("zz", max),
        StatSpec("yy", lambda cells: max(cells) - min(cells), agg_name="spread"), StatSpec("name", max),
    ])
    assert results == {"x": {"mean": 0.2, "max": 2.5}, "yy": {"sum": 3210, "spread": 2990}}
    assert "zz" in caplog.text and "name" in caplog.text, "what cannot be computed is logged"
