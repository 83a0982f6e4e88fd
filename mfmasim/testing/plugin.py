"""The pytest plugin: fixtures that launch kernels in tests, on the simulator or a GPU. See docs/pytest.md.

pytest imports it in every project where mfmasim is installed: all else waits until a fixture is used.
"""

from __future__ import annotations

import functools
import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.clusters import Cluster
    from mfmasim.devices import Device, Report
    from mfmasim.kernels import Code, Kernel
    from mfmasim.testing.turns import Turns

MARKER = "mfmasim(arch=..., checks='all', fail_on='error'): architectures of a test, checks of its launches, and the \
lowest severity of findings that fails it: 'error', 'warning' or 'never'"
SETTINGS = {"arch": None, "checks": "all", "fail_on": "error"}
WHOLE = {"executor", "observers", "debug", "schedule"}
"""Options of launches that are not spread over the executor of the command line."""
FAIL_ON = {"error": ("error",), "warning": ("error", "warning"), "never": ()}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and their defaults in the configuration file."""
    group = parser.getgroup("mfmasim", "kernels on the simulator or a GPU")
    group.addoption("--mfmasim-device", metavar="DEVICE", help="sim, hip, hip:1, ... (ini: mfmasim_device; sim)")
    group.addoption(
        "--mfmasim-arch", metavar="ARCH[,ARCH...]", help="architectures to test (each test's own, or ini: mfmasim_arch)"
    )
    group.addoption(
        "--mfmasim-timeout", metavar="SECONDS", help="what a launch on a GPU may take (default: by its grid)"
    )
    group.addoption(
        "--mfmasim-executor",
        metavar="ADDRESS",
        help="spread launches over a Dask cluster (dask://HOST:PORT, dask://local?workers=4) or MPI ranks (mpi)",
    )
    group.addoption("--mfmasim-update-golden", action="store_true", help="write golden files instead of comparing")
    group.addoption(
        "--mfmasim-triton", metavar="ARCH", help="run Triton's kernels on the simulator, compiled for this architecture"
    )
    group.addoption("--mfmasim-triton-checks", metavar="CHECKS", default="", help="checks of these kernels (all)")
    parser.addini("mfmasim_device", "device of kernel tests", default="sim")
    parser.addini("mfmasim_arch", "architectures of tests without any of their own, separated by commas", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin the session of ``--mfmasim-triton``, before a conftest.py asks PyTorch for a device."""
    given = early_config.known_args_namespace
    if given.mfmasim_triton:
        from mfmasim.testing.triton_session import TritonSession

        session = TritonSession(given.mfmasim_triton, given.mfmasim_triton_checks)
        early_config.pluginmanager.register(session, "mfmasim-triton")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what the options say for processes."""
    config.addinivalue_line("markers", MARKER)
    if config.getoption("--mfmasim-timeout"):
        os.environ["MFMASIM_TIMEOUT"] = config.getoption("--mfmasim-timeout")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each kernel with a loop that no launch turned three times."""
    for line in _turns().lines() if _turns.cache_info().currsize else ():
        terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:  # noqa: ARG001 - pytest passes it
    """Close the executor."""
    _to_close.close()


def _option(config: pytest.Config, name: str) -> str:
    return str(config.getoption(name) or config.getini(name) or "")


def _settings(node: pytest.Item | pytest.Function) -> dict[str, Any]:
    """Settings from a test's markers; the closest marker has precedence."""
    found: dict[str, Any] = {}
    for marker in node.iter_markers("mfmasim"):
        if marker.args:
            raise pytest.Collector.CollectError(
                f"@pytest.mark.mfmasim: expected keyword arguments, such as checks={marker.args[0]!r}"
            )
        for name, value in marker.kwargs.items():
            if name not in SETTINGS:
                raise pytest.Collector.CollectError(
                    f"@pytest.mark.mfmasim: unknown argument {name!r}; allowed: {', '.join(SETTINGS)}"
                )
            found.setdefault(name, value)
    settings = SETTINGS | found
    if settings["fail_on"] not in FAIL_ON:
        raise pytest.Collector.CollectError(f"@pytest.mark.mfmasim: fail_on must be one of {', '.join(FAIL_ON)}")
    return settings


def _names(value: str | Sequence[str] | None) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else list(value or ())
    return [part.strip() for part in parts if part.strip()]


_open: dict[str, Device] = {}
_to_close = ExitStack()


@functools.cache
def _turns() -> Turns:
    from mfmasim.testing.turns import Turns

    return Turns()


@functools.cache
def _executor(address: str) -> Cluster:
    from mfmasim.clusters import opened

    try:
        return _to_close.enter_context(opened(address))
    except MfmasimError as error:
        raise pytest.UsageError(str(error).replace("--executor", "--mfmasim-executor")) from None


def _device(config: pytest.Config) -> Device:
    from mfmasim.devices import device

    name = _option(config, "mfmasim_device")
    if name not in _open:
        try:
            _open[name] = device(name)
        except MfmasimError as error:
            raise pytest.Collector.CollectError(f"--mfmasim-device: {error}") from None
    return _open[name]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per architecture: those of the command line that the test allows, or all that it allows.

    The configuration's are for tests without any of their own.
    """
    if "mfmasim_arch" not in metafunc.fixturenames:
        return
    from mfmasim.architectures import DEFAULT, arch

    own = _names(_settings(metafunc.definition)["arch"])
    asked, usual = (_names(get("mfmasim_arch")) for get in (metafunc.config.getoption, metafunc.config.getini))
    gpu = getattr(_device(metafunc.config), "arch", None)
    chosen = asked or ([gpu] if gpu else own or usual or [DEFAULT])
    try:
        names = [arch(name).name for name in chosen]
        wanted = {arch(name).name for name in own}
    except MfmasimError as error:
        raise pytest.Collector.CollectError(f"mfmasim: {error}") from None
    skip = pytest.mark.skip(reason=f"for {', '.join(own)}")
    params = [pytest.param(name, marks=[skip] if own and name not in wanted else []) for name in names]
    metafunc.parametrize("mfmasim_arch", params, scope="session")


class DeviceUnderTest:
    """A device whose launches fail the test if there are findings."""

    def __init__(self, device: Device, executor: str | None = None) -> None:
        """Launch on `device`, with the settings of the test that runs, and on the executor of this address.

        One object serves all tests of a session. A fixture of each test would be one of which Hypothesis warns, because
        its examples share it.
        """
        self.device, self._address = device, executor
        self._reports: list[Report] = []
        self._item: pytest.Item | None = None

    @property
    def reports(self) -> list[Report]:
        """Of the launches of the running test."""
        if _running[-1:] != [self._item]:
            self._item, self._reports = _running[-1], []
        return self._reports

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def launch(
        self, kernel: Kernel, grid: object, block: object, args: Sequence[Any], shared_bytes: int = 0, **options: Any
    ) -> Report:
        """Run a kernel, as `mfmasim.devices.SimDevice.launch` does, and fail the test if there are findings.

        Args:
            kernel: such as ``code["gemm"]``.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
            args: one entry per argument.
            shared_bytes: dynamic LDS in bytes.
            options: `checks` instead of the marker's, and further options of the device.

        Returns:
            The report, for further assertions.
        """
        __tracebackhide__ = True
        settings = _settings(_running[-1])
        checks = options.pop("checks", settings["checks"] if self.name == "sim" else "all")
        # Whatever has to see the whole launch keeps it in this process.
        if self._address and self.name == "sim" and not (options.keys() & WHOLE or "origin" in str(checks)):
            executor = _executor(self._address)
            options |= {"executor": executor, "parts": 2 * executor.workers()}
        ways = None
        if self.name == "sim" and not options.keys() & {"executor", "schedule"}:
            from mfmasim.devices.ways import Ways

            ways = Ways()
            options["observers"] = [*options.get("observers", ()), ways]
        report = self.device.launch(kernel, grid, block, args, shared_bytes, checks, **options)
        if ways is not None:
            _turns().add(kernel, ways)
        self.reports.append(report)
        bad = [finding for finding in report.findings if finding.severity in FAIL_ON[settings["fail_on"]]]
        if bad:
            many = f"{len(bad)} finding{'s' * (len(bad) > 1)}"
            lines = [f"{report.kernel} on {report.device} ({report.arch}): {many}"]
            lines += [line for finding in bad[:10] for line in finding.lines()]
            raise AssertionError("\n".join(lines))  # pytest shows the line of the test, and Hypothesis' example
        return report


_running: list[pytest.Item] = []
"""The test that runs."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep which test runs, for its settings."""
    _running[:] = [item]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Show a wrong argument, or outputs that differ, at the line of the test; ``--full-trace`` shows all frames."""
    error = None if call.excinfo is None else call.excinfo.value
    if isinstance(error, MfmasimError | AssertionError) and not item.config.option.fulltrace:
        _without_own_frames(error)


def _without_own_frames(error: BaseException) -> None:
    """Cut a traceback behind the last frame that is not of this package, with what it was raised from."""
    package = str(Path(__file__).resolve().parents[1]) + os.sep
    frame, last = error.__traceback__, None
    while frame is not None:
        last = last if frame.tb_frame.f_code.co_filename.startswith(package) else frame
        frame = frame.tb_next
    if last is not None and last.tb_next is not None:
        last.tb_next = None
        error.__cause__, error.__suppress_context__ = None, True


@pytest.fixture(scope="session")
def mfmasim_device(request: pytest.FixtureRequest) -> DeviceUnderTest:
    """The device of ``--mfmasim-device``; launches with errors fail the test."""
    return DeviceUnderTest(_device(request.config), request.config.getoption("--mfmasim-executor"))


class Compiler:
    """Compiles sources beside the tests, each once."""

    def __init__(self, arch: str, folder: Path, cache: dict[Any, Code]) -> None:
        """Compile sources in a folder.

        Args:
            arch: the architecture.
            folder: folder of the sources.
            cache: results of this session, shared between tests.
        """
        self.arch = arch
        self._folder = folder
        self._cache = cache

    def __call__(self, name: str, **options: Any) -> Code:
        """Compile a source, or load a code object (``.hsaco``); `options` are those of `mfmasim.compile`."""
        from mfmasim import program

        path = self._folder / name
        key = (path, self.arch, repr(sorted(options.items())))
        if key not in self._cache:
            made = program.load(path) if path.suffix == ".hsaco" else program.compile(path, self.arch, **options)
            self._cache[key] = made
        return self._cache[key]


_compiled: dict[Any, Code] = {}


@pytest.fixture(scope="module")
def mfmasim_compile(request: pytest.FixtureRequest, mfmasim_arch: str) -> Compiler:
    """A function that compiles a source beside the test for the test's architecture."""
    return Compiler(mfmasim_arch, Path(request.path).parent, _compiled)


class Golden:
    """Expected outputs in the folder ``golden`` beside the test file."""

    def __init__(self, folder: Path, stem: str, *, update: bool) -> None:
        """Compare with golden files, or write them.

        Args:
            folder: folder of the files.
            stem: beginning of the files' names.
            update: write the files instead of comparing.
        """
        self._folder = folder
        self._stem = stem
        self._update = update

    def check(self, actual: object, name: str = "", *, format: str = "", **bounds: Any) -> None:  # noqa: A002
        """Compare an output with the stored one; with ``--mfmasim-update-golden`` store it instead.

        Args:
            actual: the output.
            name: name of the output, for tests with several.
            format: number format of codes.
            bounds: allowed difference: ``ulp``, ``absolute``, ``relative``, ``close``, as for `mfmasim.verify.Out`.
        """
        import numpy as np

        from mfmasim.testing.bits import difference
        from mfmasim.testing.stored import load, store

        __tracebackhide__ = True
        path = self._folder / f"{self._stem}{f'.{name}' if name else ''}.npz"
        if self._update:
            store(path, np.asarray(actual))
            return
        try:
            text = difference(actual, load(path), format=format, **bounds)
            failure = f"{path.name}: {text}" if text else ""
        except MfmasimError as error:
            failure = str(error)
        if failure:
            pytest.fail(failure, pytrace=False)


@pytest.fixture
def mfmasim_golden(request: pytest.FixtureRequest) -> Golden:
    """Golden outputs stored beside the test."""
    stem = re.sub(r"[^A-Za-z0-9._=-]+", "_", request.node.name).strip("_")
    folder = Path(request.path).parent / "golden"
    return Golden(folder, stem, update=bool(request.config.getoption("--mfmasim-update-golden")))
