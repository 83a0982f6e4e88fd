"""streams: order between streams, events, graphs and the host; launches that fail unseen."""

import json
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hiprt.compiled import SOURCES, clang, hipcc, started
from tests.hiprt.test_hiprt_runtime import Caller

# Of each part of streams.hip: the kind of the finding where one call is missing, and words of its message.
PARTS = {
    "events": ("streams-race", "the kernel twice at .*, which the kernel fill at .* writes"),
    "host": ("streams-host", r"the host reads byte 20 of hipHostMalloc .* at .*, which hipMemcpyAsync at .* writes"),
    "source": ("streams-host", "the host writes byte 0 of hipHostMalloc .*, which hipMemcpyAsync at .* reads"),
    "shared": ("streams-host", "the host reads byte 4 of hipMallocManaged .*, which the kernel fill at .* writes"),
    "freed": ("streams-freed", "hipFreeAsync at .* frees or allocates .* of hipMallocAsync .*, which the kernel fill"),
    "null": ("streams-race", "the kernel twice .*, which the kernel fill at .* .the null stream. writes"),
    "halves": ("streams-race", "the kernel fill .* writes byte 2044 of hipMalloc"),
    "graph": ("streams-race", "the kernel twice .*a graph on stream 1. reads byte 0 of hipMalloc"),
    "after_graph": ("streams-race", "the kernel twice .* .stream 2. reads .* fill .*a graph on stream 1"),
    "atomics": ("streams-race", "the kernel fill .* writes byte 0 .*, which the kernel count at .* updates"),
    "callback": ("streams-race", "the kernel twice"),
    "pageable": ("streams-race", "the kernel fill .* writes byte 0 of hipMalloc .*, which hipMemcpyAsync at .* reads"),
    "launch": ("launch-failed", "hipErrorInvalidValue|hipErrorInvalidConfiguration"),
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("streams") / "streams"
    hipcc("-Wall", "-Wextra", "-std=c++17", SOURCES / "streams.hip", "-o", path)
    return path


@pytest.mark.oracle
@pytest.mark.parametrize("part", PARTS)
def test_a_missing_call_is_found_and_a_right_program_is_not_accused(program, part, tmp_path):
    report = tmp_path / "report.json"
    right = started(program, part, "right", checks="all", report=str(report))
    assert json.loads(report.read_text())["findings"] == [], right.stderr
    assert right.returncode == 0
    wrong = started(program, part, "wrong", checks="bounds,streams", report=str(report))
    kind, words = PARTS[part]
    found = json.loads(report.read_text())["findings"]
    assert len({(one["source"], re.sub(r"\(stream \d\)|byte \d+", "", one["message"])) for one in found}) == 1, found
    assert (found[0]["severity"], found[0]["id"]) == ("error", kind)
    line = f"error {kind} {found[0]['source']}: {found[0]['message']}"
    assert line in wrong.stderr
    assert re.search(words, line)
    assert wrong.returncode == 1
    lines = {int(number) for number in re.findall(r"streams\.hip:(\d+)", line)}
    text = (SOURCES / "streams.hip").read_text().splitlines()
    first = next(n for n, line in enumerate(text, 1) if re.match(rf"static void {part}(_stream)?\(bool", line))
    assert all(first < number < first + 20 for number in lines)
    none = started(program, part, "wrong", checks="bounds")
    assert none.returncode == int(part == "launch")


ORDER = re.findall(r"P\((\w+)\)", (SOURCES / "order.hip").read_text().partition("#define P(x)")[2])


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("order") / "order"
    hipcc("-std=c++17", SOURCES / "order.hip", "-o", path)
    return path


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("part", ORDER)
def test_more_programs(order, part, tmp_path):
    report = tmp_path / "report.json"
    for how in ("right", "wrong"):
        done = started(order, part, how, checks="bounds,streams", report=str(report), arch="gfx942,gfx942")
        found = json.loads(report.read_text())["findings"]
        assert bool(found) == (how == "wrong"), (how, found, done.stderr)
        assert done.returncode == (how == "wrong")
        assert all(one["severity"] == "error" and one["check"] == "streams" for one in found)


class Slow:
    """The same order as a set of everything that came before, of each step; no clocks."""

    def __init__(self):
        self.done, self.streams, self.event, self.work = set(), {}, set(), []

    def before(self, stream):
        found = self.done | self.streams.get(stream, set())
        if stream == "null":
            for name, own in self.streams.items():
                found |= own if name.startswith("blocking") else set()
        elif stream.startswith("blocking"):
            found |= self.streams.get("null", set())
        return set(found)

    def fill(self, stream, place):
        before, number = self.before(stream), len(self.work)
        self.work.append((place, before))
        self.streams[stream] = before | {number}

    def races(self):
        return {
            (a, b)
            for (a, (x, _)), (b, (y, before)) in combinations(enumerate(self.work), 2)
            if x == y and a not in before
        }


STREAMS = ("null", "blocking 1", "blocking 2", "free 1", "free 2")
STEPS = st.one_of(
    st.tuples(st.just("fill"), st.sampled_from(STREAMS), st.integers(0, 2)),
    st.tuples(st.sampled_from(["record", "wait", "synchronise"]), st.sampled_from(STREAMS), st.just(0)),
    st.tuples(st.sampled_from(["event", "all"]), st.just("null"), st.just(0)),
)


@given(st.lists(STEPS, max_size=14))
def test_clocks_and_sets_of_what_came_before_say_the_same(steps):
    call, slow = Caller(checks="streams", memory="16"), Slow()
    handles = {"null": 0}
    for name in STREAMS[1:]:
        _, handles[name] = call.out("hipStreamCreateWithFlags", int(name.startswith("free")))
    _, event = call.out("hipEventCreate")
    _, memory = call.out("hipMalloc", 64)
    found = set()
    order = call.runtime.order
    order._compare = lambda work, other: found.update(
        {(other.name, work.name)} if next(work.clashes(other), None) else ()
    )
    for kind, stream, place in steps:
        handle = handles[stream]
        if kind == "fill":
            number = len(slow.work)
            slow.fill(stream, place)
            before = order._work
            order._work = lambda number=number, before=before: renamed(before(), number)
            call("hipMemsetAsync", memory + 4 * place, 0, 4, handle)
            order._work = before
        elif kind == "record":
            call("hipEventRecord", event, handle)
            slow.event = slow.before(stream)
        elif kind == "wait":
            call("hipStreamWaitEvent", handle, event, 0)
            slow.streams[stream] = slow.streams.get(stream, set()) | slow.event
        elif kind == "synchronise":
            call("hipStreamSynchronize", handle)
            slow.done |= slow.before(stream)
        elif kind == "event":
            call("hipEventSynchronize", event)
            slow.done |= slow.event
        else:
            call("hipDeviceSynchronize")
            slow.done |= set(range(len(slow.work)))
    assert found == slow.races()


def renamed(work, number):
    work.name = number
    return work
