"""``pytest --mfmasim-triton ARCH``: tests of programs whose kernels are written in Triton, without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mfmasim import triton
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["TritonSession"]

SHOWN = 10
"""Findings of a test that are printed."""


class TritonSession:
    """A session for all tests; a test whose launches have errors fails, even if its assertions hold."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin the session that the options describe."""
        arch, checks = (str(config.getoption(f"--mfmasim-triton{part}")) for part in ("", "-checks"))
        try:
            self.session = triton.install(arch, checks)
        except MfmasimError as error:
            raise pytest.UsageError(f"--mfmasim-triton: {error}") from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        """Run a test, then fail it if its launches have errors."""
        before = len(self.session.reports)
        yield
        reports = self.session.reports[before:]
        found = [finding for report in reports for finding in report.findings if finding.severity == "error"]
        if found:
            lines = [f"{len(found)} finding{'s' * (len(found) > 1)} in kernels of this test"]
            pytest.fail("\n".join([*lines, *(line for one in found[:SHOWN] for line in one.lines())]), pytrace=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line: what ran."""
        ran = self.session
        terminalreporter.write_line(
            f"mfmasim: {len(ran.reports)} launches on {ran.settings.arch}, checks {ran.settings.checks}; "
            f"{ran.compiled} kernels compiled in {ran.compile_seconds:.1f} s, simulated in {ran.simulate_seconds:.1f} s"
        )

    def pytest_unconfigure(self) -> None:
        """End the session."""
        triton.uninstall()
