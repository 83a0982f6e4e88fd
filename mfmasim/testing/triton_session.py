"""``pytest --mfmasim-triton ARCH``: tests of programs whose kernels are written in Triton, without a GPU."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from mfmasim import triton
from mfmasim.errors import MfmasimError
from mfmasim.triton.records import read
from mfmasim.triton.start import environment
from mfmasim.triton.summary import findings

SHOWN = 10
"""Findings of a test that are printed."""


class TritonSession:
    """A session for all tests and the processes that they start.

    A test whose launches have errors fails, even if its assertions hold.
    """

    def __init__(self, arch: str, checks: str) -> None:
        """Begin the session that the options describe.

        Args:
            arch: of ``--mfmasim-triton``.
            checks: of ``--mfmasim-triton-checks``.
        """
        try:
            self.session = triton.install(arch, checks)
        except MfmasimError as error:
            raise pytest.UsageError(f"--mfmasim-triton: {error}") from None
        self.launched = 0
        """By processes that tests started."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        """Run a test, then fail it if its launches have errors."""
        before = len(self.session.reports)
        with tempfile.TemporaryDirectory(prefix="mfmasim-triton-") as name, pytest.MonkeyPatch.context() as patch:
            for variable, value in environment(self.session.settings, Path(name)).items():
                patch.setenv(variable, value)
            yield
            launches = read(Path(name)).launches
        self.launched += len(launches)
        every = [finding for report in self.session.reports[before:] for finding in report.findings]
        every += [finding for launch in launches for finding in findings(launch)]
        found = [finding for finding in every if finding.severity == "error"]
        if found:
            lines = [f"{len(found)} finding{'s' * (len(found) > 1)} in kernels of this test"]
            pytest.fail("\n".join([*lines, *(line for one in found[:SHOWN] for line in one.lines())]), pytrace=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line: what ran."""
        ran, launches = self.session, len(self.session.reports) + self.launched
        terminalreporter.write_line(
            f"mfmasim: {launches} launches on {ran.settings.arch}, checks {ran.settings.checks}; "
            f"{ran.compiled} kernels compiled in {ran.compile_seconds:.1f} s, simulated in {ran.simulate_seconds:.1f} s"
        )

    def pytest_unconfigure(self) -> None:
        """End the session."""
        triton.uninstall()
