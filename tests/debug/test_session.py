"""Sessions: moving, breakpoints, watches, who wrote a value, findings."""

import numpy as np
import pytest

from mfmasim.debug.history import Position
from mfmasim.debug.lines import Lines
from mfmasim.debug.locations import of_value
from mfmasim.debug.names import Names
from mfmasim.debug.session import Session, Stop
from mfmasim.debug.types import Type
from mfmasim.debug.values import Object
from mfmasim.debug.views import printed
from mfmasim.errors import MfmasimError
from mfmasim.observe.tools.steps import Trace
from tests.debug.sessions import SOURCE, compiled, loop, matrices, recorded, swizzled

pytestmark = pytest.mark.filterwarnings("error")


def value(session, text):
    return printed(session, text)


def test_lines_forwards_and_backwards_are_the_same():
    session = swizzled()
    session.add_breakpoint("swizzle_missing.hip:28")
    session.resume()
    forwards = [(session.at, session.frames)]
    for _ in range(8):
        session.step()
        forwards.append((session.at, session.frames))
    for at, frames in forwards[-2::-1]:
        session.step(backward=True)
        assert (session.at, session.frames) == (at, frames)


def test_inlined_calls():
    session = swizzled()
    session.add_breakpoint("fragment")
    stop = session.resume()
    assert stop.reason == "breakpoint"
    session.run_to("13")
    assert [one.name for one in session.frames] == ["fragment", "gemm"]
    assert session.frames[1].line == 29
    session.finish()
    assert [one.name for one in session.frames] == ["gemm"]


def test_next_goes_past_inlined_calls():
    session = swizzled()
    session.run_to("26")
    depths = []
    for _ in range(6):
        session.step(over=True)
        depths.append(len(session.frames))
    assert set(depths) == {1}


@pytest.mark.parametrize("level", [0, 1])
def test_variables_by_name(level):
    session = swizzled(level)
    a, b, _ = matrices()
    session.add_breakpoint("24 if row == 3 && column == 8")
    if level == 0:
        stop = session.resume()
        assert stop.reason == "breakpoint"
        assert session.lane == 3 * 8 + 2
        assert value(session, "row") == "3"
        assert value(session, "i % 8 * 4") == "8"
        assert value(session, "y[1]") == f"{float(b[3, 9]):g}"
        assert value(session, "x.z") == f"{float(a[3, 10]):g}"
        assert value(session, "a[3 * K + 8]") == f"{float(a[3, 8]):g}"
    else:  # the compiler keeps nothing of column
        with pytest.raises(MfmasimError, match="optimised out"):
            session.resume()
        session.remove(1)
        session.add_breakpoint("22 if row == 3")
        session.resume()
        assert session.lane == 24
        assert value(session, "row") == "3"
        assert value(session, "column") == "<optimised out>"


def test_parameters_and_the_lds_have_values_although_the_compiler_gives_no_place():
    session = swizzled()
    a, _, _ = matrices()
    session.go(session.history.end, Stop("end"))
    assert value(session, "As[40]") == f"{float(a[1, 8]):g}"
    assert value(session, "b").startswith("0x7f")
    assert value(session, "c[0,1]") == value(session, "c[1]")


def test_who_wrote_follows_a_wrong_element_to_the_store_and_the_load():
    session = swizzled()
    session.go(session.history.end, Stop("end"))
    stop = session.who_wrote("c[0,1]")
    assert (stop.reason, session.lane, session.frames[0].line) == ("watch", 1, 33)
    assert session.instruction.name.startswith("global_store")
    register = [one for one in session.instruction.src if one.kind == "v"][-1]
    for _ in range(4):  # moves, then the matrix instruction
        session.who_wrote(f"${register.kind}{register.index}")
        if session.instruction.opcode.matrix:
            break
        register = session.instruction.src[0]
    assert session.instruction.opcode.matrix
    session.who_wrote("Bs[36]")
    assert (session.lane, session.frames[0].line) == (8, 24)  # As row 1 begins at Bs[32]; the swizzle moved it
    with pytest.raises(MfmasimError, match="the caller filled it"):
        session.who_wrote("b[0,0]")


def writers_by_trace(register, lane):
    """Ordinals of the instructions of a wave that wrote a register of a lane, by an observer of the launch."""
    import mfmasim

    trace = Trace(waves=[0])
    mfmasim.device("sim").launch(compiled(1), 1, 64, list(matrices()), observers=[trace])
    return [one.number for one in trace.records if register in one.vectors and one.active[lane]]


def test_a_register_watch_stops_where_a_trace_has_the_writes():
    session = swizzled()
    wanted = writers_by_trace("v2", 5)
    assert len(wanted) > 3
    session.add_watch("$v2 lane 5")
    found = []
    while session.resume().reason == "watch":
        found.append(session.history.ordinal(0, session.at))
    assert found == wanted
    back = []
    while session.resume(backward=True).reason == "watch":
        back.append(session.history.ordinal(0, session.at))
    assert back == wanted[::-1]


def test_memory_watches_forwards_and_backwards():
    session = swizzled()
    watch = session.add_watch("Bs[36]", frozenset({"read", "write"}))
    kinds = []
    while session.resume().reason == "watch":
        kinds.append(session.stop.hits[0].kind)
    assert kinds[0] == "write"
    assert set(kinds[1:]) == {"read"}
    back = []
    while session.resume(backward=True).reason == "watch":
        back.append(session.stop.hits[0].kind)
    assert back == kinds[::-1]
    assert watch.hits == 2 * len(kinds)


def test_conditions_hit_counts_and_waves():
    session = loop()
    mnemonic = next(ins.name for ins in session.kernel.instructions if ins.name.startswith("v_") and "add" in ins.name)
    plain, _ = session.add_breakpoint(mnemonic)
    total = 0
    while session.resume().reason == "breakpoint":
        total += 1
    assert total > 3
    session.remove(plain.number)
    session.go(Position(0), Stop("start"))
    made, _ = session.add_breakpoint(f"{mnemonic} if lane == 7")
    made.ignore = total - 1
    assert session.resume().reason == "breakpoint"
    assert session.lane == 7
    assert session.resume().reason == "end"
    session.remove(made.number)
    session.add_breakpoint(f"{mnemonic} wave 2")
    session.resume(backward=True)
    assert session.wave == 2


def test_reverse_continue_finds_the_same_stops():
    session = swizzled()
    session.add_breakpoint("31 if scc == 0 or scc == 1")
    forwards = []
    while session.resume().reason == "breakpoint":
        forwards.append(session.at)
    backwards = []
    while session.resume(backward=True).reason == "breakpoint":
        backwards.append(session.at)
    assert len(forwards) == 4
    assert backwards == forwards[::-1]


def test_goto_an_instruction_by_its_number():
    session = loop()
    session.select(wave=2)
    at = [session.goto(number) and session.pc for number in (0, 5, 2)]
    assert at[0] == session.kernel.info.entry
    assert session.history.ordinal(2, session.at) == 2
    with pytest.raises(MfmasimError, match="executes instructions 0 to"):
        session.goto(10**6)


def with_variables(monkeypatch, **variables):
    """A session in which the kernel has further variables; None is one that is optimised out."""
    session = loop()
    uint = Type("uint", "uint", 4)

    def found(names, name):
        if name not in variables:
            return None
        bits = None if variables[name] is None else of_value(np.full(names.state.lanes, variables[name], np.uint64))
        return Object(uint, bits)

    monkeypatch.setattr(Names, "_variable", found)
    return session


def test_a_variable_named_as_the_debuggers_own_that_is_optimised_out(monkeypatch):
    session = with_variables(monkeypatch, lane=None, i=None)
    assert value(session, "$lane") == "0"
    assert value(session, "lane") == "<optimised out>: lane is a variable of the kernel; $lane is the debugger's own"
    assert value(session, "i") == "<optimised out>"
    session.add_breakpoint("v_add* if lane == 5")
    with pytest.raises(MfmasimError, match=r"lane is a variable of the kernel; \$lane is the debugger's own"):
        session.resume()
    with pytest.raises(MfmasimError, match="i is <optimised out>"):
        session.evaluate("i + 1")
    assert value(with_variables(monkeypatch, lane=7), "lane + $lane") == "7"


def test_words_of_python_are_names_of_variables(monkeypatch):
    session = with_variables(monkeypatch, **{"in": 5, "lambda": 3, "is": 2, "def": 1})
    assert value(session, "in") == "5"
    assert value(session, "lambda * in + (is << def)") == "19"
    assert value(session, "in > 4 && !(lambda == 4)") in ("1", "True", "true")
    with pytest.raises(MfmasimError, match="'in in' does not parse"):
        session.evaluate("in in")
    with pytest.raises(MfmasimError, match="unknown name 'yield'"):
        session.evaluate("yield + 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch", "unknown name 'nosuch'"),
        ("1 +", "does not parse"),
        ("__import__('os')", "text is not part of an expression"),
        ("(lambda: 1)()", "a function of one argument"),
        ("[x for x in v0]", "listcomp is not part of an expression"),
        ("v0.__class__", "a number has no fields"),
        ("f17(v0)", "unknown function 'f17'"),
        ("v9999", "of these registers the kernel has v0"),
        ("1 // 0", "division by zero"),
        ("2 ** 9999", "binop is not part"),
        ("c[99,0]", "c is 32 x 32"),
        ("As[5000]", "elements 0 to 1023"),
        ("9" * 2000, "at most 1,000"),
        ("1 << 70000", None),
        ("(" * 500 + ")" * 500, "does not parse"),
    ],
)
def test_expressions_that_are_no_expressions(text, message):
    session = swizzled()
    if message is None:
        session.evaluate(text)
        return
    with pytest.raises(MfmasimError, match=message) as caught:
        value(session, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch.hip:3", "unknown source"),
        ("9999", "the last line with code is"),
        ("v_nothing", "unknown place"),
        ("*0xzz", "an address such as"),
        ("31 if a +", "does not parse"),
        ("", "a line, \\*address"),
    ],
)
def test_breakpoints_that_are_nowhere(text, message):
    with pytest.raises(MfmasimError, match=message):
        swizzled().add_breakpoint(text)


def test_a_line_without_code_is_moved_and_said():
    made, remark = swizzled().add_breakpoint("27")
    assert made.text.endswith(":28")
    assert "line 27 has no code" in remark


def test_without_debug_information():
    session = loop()
    with pytest.raises(MfmasimError, match="compile with -g"):
        session.evaluate("k")
    assert session.evaluate("v0").values.shape == (64,)


def test_findings_stop_where_they_begin():
    args = list(matrices())
    session = Session(*recorded(compiled(1), 1, 64, args, undefined=[0]))
    assert {one.check for one in session.report.findings} >= {"uninitialised"}
    session.finding_stops = ("all",)
    stop = session.resume()
    assert stop.reason == "finding"
    assert session.pc == stop.finding.pc
    last = session.at
    session.go(session.history.end, Stop("end"))
    while session.resume(backward=True).reason == "finding":
        assert session.at >= last


def test_floats_in_any_format():
    from mfmasim.debug import views

    session = swizzled()
    session.run_to("31")
    first = session.evaluate("v18").values[session.lane]
    low, high = np.array([int(first)], np.uint32).view(np.float16)
    assert views.printed(session, "v18", "f16") == f"[{float(low):g}, {float(high):g}]"
    assert views.printed(session, "v18", "x") == f"{int(first):#x}"
    with pytest.raises(MfmasimError, match="unknown format"):
        views.printed(session, "v18", "f99")


def test_fragments_are_the_matrices_in_the_lds():
    from mfmasim.debug import views

    session = swizzled()
    a, b, _ = matrices()
    session.run_to("v_mfma*")
    assert np.array_equal(views.fragment_of(session, "A").matrix, a[:, :8].astype(float))
    wrong = views.fragment_of(session, "B").matrix
    assert np.array_equal(wrong[:, 0], b[0, :8].astype(float))
    assert not np.array_equal(wrong, b.T[:8].astype(float))  # the bug
    assert np.array_equal(wrong[:4, 1], b[1, 4:8].astype(float))  # and what it is: column 4 where 0 should be


def test_who_wrote_a_dword_that_a_load_delivered_to_the_lds():
    """Loads from memory to the LDS write it: no register in between."""
    from mfmasim.debug.recorder import Recorder
    from tests.debug.test_replay import launched

    recorder = Recorder()
    report, _ = launched("gemm_fp8/scheduled", "pingpong_256", "gfx950", [recorder])
    session = Session(recorder, report)
    session.run_to("v_mfma*")
    held = int(session.evaluate("lds[1000]").number().at(0))
    session.who_wrote("lds[1000]")
    assert session.instruction.name.startswith("buffer_load")
    before = int(session.evaluate("lds[1000]").number().at(0))
    session.step_instruction()
    assert int(session.evaluate("lds[1000]").number().at(0)) == held != before
    with pytest.raises(MfmasimError, match="elements 0 to"):
        session.evaluate("lds[100000]")


def test_the_kernels_own_source_comes_before_one_of_its_name_in_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / SOURCE.name).write_text("// another file\n" * 40)
    monkeypatch.chdir(tmp_path)
    session = swizzled()
    own = SOURCE.read_text().splitlines()
    assert session.lines.source(SOURCE.name) == own
    assert session.lines.path(SOURCE.name) == SOURCE
    assert Lines(session.kernel).path(SOURCE.name) == tmp_path / SOURCE.name  # where no other is known
