"""The terminal: transcripts of commands, targets, recordings in files."""

import base64
import gzip
import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from mfmasim.cli.entry import main
from mfmasim.debug.file import MAGIC, load, save
from mfmasim.debug.terminal import Terminal
from mfmasim.devices.options import Options
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder
from tests.debug.sessions import SOURCE, loop, matrices, swizzled
from tests.oracles import require


def transcript(session, *commands):
    out = io.StringIO()
    Terminal(session, io.StringIO("\n".join([*commands, "quit", ""])), out).cmdloop()
    return out.getvalue()


def answers(session, *commands):
    """What each command answers."""
    parts = transcript(session, *commands).split("(mfmasim) ")[1:]
    return [part.partition("\n")[2].rstrip("\n") for part in parts[: len(commands)]]


def test_a_transcript():
    found = answers(
        swizzled(),
        "break 31",
        "continue",
        "print blockDim.x * 2",
        "print/f16 v18",
        "reverse-step",
        "stepi",
        "rsi",
        "info breakpoints",
        "lane 9",
        "print threadIdx.x",
        "delete 1",
        "continue",
        "who wrote c[0,1]",
        "list",
    )
    assert found[0] == "breakpoint 1 at swizzle_missing.hip:31"
    assert found[1].startswith("breakpoint 1: workgroup (0, 0, 0) wave 0 lane 0, gemm (swizzle_missing.hip:31)")
    assert "acc = __builtin_amdgcn_mfma_f32_32x32x8f16" in found[1]
    assert found[2] == "blockDim.x * 2 = 128"
    assert found[3].startswith("v18 = [")
    assert found[5] != found[6]
    assert found[4] == found[6].replace("breakpoint 1: ", "")
    assert found[7] == "1  swizzle_missing.hip:31, 1 hit"
    assert found[9] == "threadIdx.x = 9"
    assert found[11] == "the end of the launch: wave 0 has ended"
    assert "lane 1, gemm (swizzle_missing.hip:33)" in found[12]
    assert ">   33" in found[13]


def test_every_command_has_a_help_and_answers_bad_input_in_one_line():
    session = loop()
    terminal = Terminal(session, io.StringIO(), io.StringIO())
    commands = terminal._commands()
    assert len(commands) > 30
    listed = answers(session, "help")[0].splitlines()
    assert len(listed) == len(commands)
    for name in commands:
        if name in ("quit", "detach", "help"):
            continue
        for text in ("", "\x1b[31m", "99999999999999999999", "no such thing at all", "v0 lane 77", "1 2 3"):
            out = io.StringIO()
            Terminal(session, io.StringIO(), out).onecmd(f"{name} {text}")
            assert "Traceback" not in out.getvalue()
            assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("nosuch", "unknown command 'nosuch'"),
        ("wave 99", "the launch has waves 0 to 2"),
        ("lane 64", "a wave has lanes 0 to 63"),
        ("print", "does not parse"),
        ("step x", "a number of times is expected"),
        ("info nosuch", "unknown subject 'nosuch'"),
        ("who is it", "who wrote WHAT is expected"),
        ("delete 7", "unknown breakpoint '7'"),
        ("frame 9", "there are frames 0 to 0"),
        ("finding 9", "there are"),
        ("watch 1 + 1", "only registers and what lies in memory"),
        ("watch v0 lane 99", "a wave has lanes 0 to 63"),
        ("catch nosuch", "unknown finding 'nosuch'"),
        ("fragment A", "executes no matrix instruction"),
        ("step/x", "takes no format"),
        ("until v_nothing", "unknown place"),
    ],
)
def test_bad_input(command, message):
    (answer,) = answers(loop(), command)
    assert message in answer
    assert "\n" not in answer


def test_comments_and_empty_lines_of_a_file():
    found = transcript(swizzled(), "# a comment", "", "print lane")
    assert found.count("lane = 0") == 1


def test_the_command_line(tmp_path, capsys):
    code = folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco"
    commands = tmp_path / "commands"
    commands.write_text("stepi 3\ninfo registers\ninfo waves\nquit\n")
    args = ["--arg", "u32:2x64=0", "--arg", "i32=4", "--arg", "u32=7", "--grid", "2", "--commands", str(commands)]
    assert main(["debug", str(code), *args]) == 0
    found = capsys.readouterr().out
    assert "valu_loop" in found
    assert "exec=0xffffffffffffffff" in found
    assert "waves 0-1" in found
    for bad, message in (
        ([], "a target is expected"),
        (["nosuch.hsaco"], "nosuch.hsaco"),
        (["intro"], "choose one with --case and --arch"),
        (["intro", "--case", "nosuch"], "no case matches --arch any --case nosuch; cases: f32_32x32x2"),
        ([str(code), "--port", "3"], "--dap is needed"),
        ([str(code), *args[:-1], str(tmp_path / "none")], "--commands"),
        ([str(code), "--set", "M=4"], "--set does not apply to a code object"),
        ([str(code), "--flag=-O1"], "--flag does not apply to a code object"),
        (["gemm.hip", "--case", "x"], "--case does not apply to a source"),
        (["nosuch.hip"], "no file 'nosuch.hip'"),
        (["intro", "--shared", "1"], "--shared does not apply to a case"),
        (["intro", "f16_16x16x16"], "'f16_16x16x16' is left over; --case chooses a case"),
        (["--page", "x.html", "--", sys.executable, "x.py"], "--page does not apply to a program"),
        (["--record", str(tmp_path), "--", sys.executable, "-c", "0"], "cannot be written: Is a directory"),
        (["intro", "--record", ""], "--record '': a value is expected"),
        (["intro", "--record", "a", "--page", "b"], "--record and --page exclude each other"),
    ):
        assert main(["debug", *bad]) == 2
        assert message in capsys.readouterr().err


def test_commands_that_are_no_text(tmp_path, capsys):
    commands = tmp_path / "commands"
    commands.write_bytes(b"print lane\n\x90\xff\n")
    assert main(["debug", "intro", "--case", "f16_16x16x16", "--arch", "gfx942", "--commands", str(commands)]) == 2
    assert capsys.readouterr().err == "mfmasim: debug: the commands are not text in UTF-8\n"


def test_an_interrupt_ends_commands_of_a_file():
    class Interrupted(io.StringIO):
        def readline(self, *_):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Terminal(loop(), Interrupted(), io.StringIO()).cmdloop()


def test_a_program_without_a_launch_records_nothing(tmp_path, capsys):
    path = tmp_path / "launch.mfmasim"
    path.write_bytes(MAGIC)  # of an earlier time
    assert main(["debug", "--record", str(path), "--", sys.executable, "-c", "0"]) == 2
    assert f"--record {path}: nothing was recorded" in capsys.readouterr().err


@pytest.mark.parametrize("checks", ["none", "all", "races", "waits,numerics:origin"])
def test_a_recording_is_run_again_with_the_checks_that_it_had(tmp_path, checks):
    """Each wave reads from the LDS what another one writes, without a barrier."""
    path = tmp_path / "launch.mfmasim"
    target = ["zoo", "--case", "hipfire_575[version=before]", "--checks", checks, "--record", str(path)]
    assert main(["debug", *target]) == 0
    session = load(path)
    assert session.recorder.checks == Options(checks=checks).names
    assert bool([one for one in session.report.findings if one.check == "races"]) == (checks in ("all", "races"))


def test_options_do_not_change_a_recording(tmp_path, capsys):
    session = loop()
    path = tmp_path / "launch.mfmasim"
    save(session.recorder, session.report, path)
    for bad, message in (
        (["--arch", "gfx950"], "--arch does not apply to a recording"),
        (["--checks", "none"], "--checks does not apply to a recording"),
        (["--grid", "2"], "--grid does not apply to a recording"),
        (["gemm"], "'gemm' is left over"),
    ):
        assert main(["debug", str(path), *bad]) == 2
        assert message in capsys.readouterr().err


def test_a_case_has_its_matrices_by_name(tmp_path, capsys):
    commands = tmp_path / "commands"
    commands.write_text("continue\nprint C[3,5]\nprint A[0,0]\nwho wrote C[3,5]\ninfo findings\nquit\n")
    target = ["intro", "--case", "f16_16x16x16", "--arch", "gfx942", "--commands", str(commands)]
    assert main(["debug", *target]) == 0
    found = capsys.readouterr().out
    assert "C[3,5] = " in found
    assert "write of C[3,5]" in found


def test_recordings_travel_as_files(tmp_path, capsys):
    session = swizzled()
    path = tmp_path / "launch.mfmasim"
    save(session.recorder, session.report, path, [SOURCE.parent])
    other = load(path)
    assert other.report == session.report
    assert other.lines.source("swizzle_missing.hip")  # the source is in the file
    assert answers(other, "break 31", "c", "p/x v18") == answers(swizzled(), "break 31", "c", "p/x v18")
    commands = tmp_path / "commands"
    commands.write_text("quit\n")
    assert main(["debug", str(path), "--commands", str(commands)]) == 0
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main(["debug", str(path), "--page", str(page)]) == 0
    packed = re.findall(r"H4sI[A-Za-z0-9+/=]+", page.read_text(encoding="utf-8"))
    assert any(b"v_mfma_f32_32x32x8_f16 v[2:17]" in gzip.decompress(base64.b64decode(one)) for one in packed)
    content = path.read_bytes()
    for number in range(len(MAGIC) + 1, len(content), len(content) // 40):
        (tmp_path / "short").write_bytes(content[:number])
        with pytest.raises(MfmasimError) as caught:
            load(tmp_path / "short")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("format", 99, "this version reads 1"),
        ("version", "9.9.9", "recorded by mfmasim 9.9.9"),
        ("size", 1 << 60, "the size of the memory"),
        ("grid", [0, 1, 1], "a size of the grid"),
        ("kernel", "nosuch", "nosuch"),
    ],
)
def test_recordings_of_other_versions_and_damaged_ones(tmp_path, name, value, message):
    import msgpack

    session = swizzled()
    path = tmp_path / "launch.mfmasim"
    save(session.recorder, session.report, path)
    content = msgpack.unpackb(path.read_bytes()[len(MAGIC) :])
    content[name] = value
    if name == "version":  # another version that computes the same is fine
        path.write_bytes(MAGIC + msgpack.packb(content))
        assert load(path).report == session.report
        content["after"] = "0" * 64
    path.write_bytes(MAGIC + msgpack.packb(content))
    with pytest.raises(MfmasimError, match=message):
        load(path)


@pytest.mark.oracle
def test_a_program_waits_while_its_launch_is_debugged(tmp_path):
    """C++ under the simulated HIP runtime: two launches, each debugged; the host's output follows."""
    import shutil

    if shutil.which("clang-22") is None and shutil.which("clang") is None:
        require("clang", available=False, how="install clang")
    source = tmp_path / "scale.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__global__ void scale(float* x, float by, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) x[i] = x[i] * by + 1;\n}\n"
        "int main() {\n  float host[100], *x;\n  for (int i = 0; i < 100; ++i) host[i] = i;\n"
        "  hipMalloc(&x, sizeof host);\n  hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice);\n"
        "  for (int k = 0; k < 2; ++k) scale<<<2, 64>>>(x, 2, 100);\n"
        "  hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost);\n"
        '  printf("host %g %g\\n", host[0], host[99]);\n}\n'
    )
    commands = tmp_path / "commands"
    commands.write_text("break 5\nc\np i + 1\np by\np x[9]\ndetach\nbreak 5\nc\np x[9]\nquit\n")
    run = [sys.executable, "-m", "mfmasim"]
    built = subprocess.run(
        [*run, "hipcc", "-g", str(source), "-o", str(tmp_path / "scale")], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    done = subprocess.run(
        [*run, "debug", "--commands", str(commands), "--", str(tmp_path / "scale")],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "launch 1: scale" in done.stdout
    assert "i + 1 = 1" in done.stdout
    assert "by = 2" in done.stdout
    assert "x[9] = 9" in done.stdout
    assert "launch 2: scale" in done.stdout
    assert "x[9] = 19" in done.stdout
    assert done.stdout.rstrip().endswith("host 3 399")


@pytest.mark.oracle
def test_a_triton_program_has_its_own_lines(tmp_path):
    import importlib.util

    if importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None:
        require("triton", available=False, how="pip install triton torch")
    script = tmp_path / "add.py"
    script.write_text(
        "import torch, triton, triton.language as tl\n@triton.jit\ndef add(x, y, out, n, B: tl.constexpr):\n"
        "    i = tl.program_id(0) * B + tl.arange(0, B)\n    a = tl.load(x + i, mask=i < n)\n"
        "    b = tl.load(y + i, mask=i < n)\n    tl.store(out + i, a + b, mask=i < n)\n"
        "x = torch.arange(300, dtype=torch.float32, device='cuda')\nout = torch.zeros_like(x)\n"
        "add[(2,)](x, x, out, 300, B=256)\nprint('host', out[:4].tolist())\n"
    )
    commands = tmp_path / "commands"
    commands.write_text("break 7\nc\nreverse-continue\nquit\n")
    done = subprocess.run(
        [sys.executable, "-m", "mfmasim", "debug", "--commands", str(commands), "--", sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert "add.py:7)\n    7      tl.store(out + i, a + b, mask=i < n)" in done.stdout
    assert "host [0.0, 2.0, 4.0, 6.0]" in done.stdout


def test_matrices_are_what_the_kernel_reads():
    """The bug of the kernel is in it: its result differs from the product."""
    session = swizzled()
    a, b, _ = matrices()
    session.go(session.history.end, session.stop)
    wanted = (a.astype(float) @ b.astype(float).T)[0]
    held = [session.evaluate(f"c[0,{k}]").at(0) for k in range(32)]
    assert held[0] == wanted[0]
    assert not np.array_equal(held, wanted)
