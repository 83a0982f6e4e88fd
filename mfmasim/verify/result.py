"""Result of verifying one case on one architecture, and its JSON form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mfmasim.fidelity import Trust
from mfmasim.markup import facts

if TYPE_CHECKING:
    from mfmasim.devices import Report
    from mfmasim.devices.coverage import Coverage
    from mfmasim.observe import Finding

SCHEMA_VERSION = 1
"""Of `Result.record`; its JSON Schema is mfmasim/schemas/verify.json."""
STATUSES = ("pass", "fail", "error", "skipped")
SHOWN = 20
"""Findings that a notebook shows."""


@dataclass
class Result:
    """One case, one architecture, one device."""

    group: str
    case: str
    kernel: str
    arch: str
    device: str
    status: str = "pass"
    outputs: dict[str, int] = field(default_factory=lambda: {"elements": 0, "mismatches": 0, "max_ulp": 0})
    mapping: dict[str, int] = field(default_factory=lambda: {"slots_checked": 0, "mismatches": 0})
    lds: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    """Findings that the case suppresses, each with the reason."""
    fidelity: str = ""
    fidelity_of: tuple[str, ...] = ()
    """The operations that set the fidelity."""
    matrix_fidelity: str = ""
    """Lowest fidelity of the matrix instructions alone."""
    executed: dict[str, int] = field(default_factory=dict)
    """Wave-instructions by mnemonic, of the last launch."""
    margin: float | None = None
    """The largest error of an output as a fraction of its bound; None where every output has to be exact."""
    compared_with: tuple[str, ...] = ()
    """The references of the comparison, in words."""
    remark: str = ""
    """Remark on the architecture for a reader of the comparison."""
    code: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the code object and who compiled it."""
    proof: dict[str, Any] = field(default_factory=dict)
    """Result of `mfmasim prove` for the case, if it was requested."""
    cover: dict[str, Any] = field(default_factory=dict)
    """Further sizes that the case was verified at, and loops and branches that no size showed
    (`mfmasim.lab.covering`); empty where nothing was looked for."""
    models: tuple[Any, ...] = ()
    """Which outputs depend on how assumed matrix instructions round, where that was asked for; each has `text`."""
    seconds: float = 0.0
    """Seconds of the case; excluded from JSON, whose bytes are equal in every run."""
    launch: Report | None = None
    """Report of the last launch; excluded from JSON."""
    warnings: str = ""
    """The compiler's messages; they stay out of JSON, as they name paths."""
    equal_sizes: frozenset[tuple[str, str]] = frozenset()
    """Pairs of equal sizes of a case that passed (`mfmasim.verify.contract.equal_sizes`); they stay out of JSON."""
    coverage: Coverage | None = None
    """Source lines with counts of the last launch, where a page shows them; it stays out of JSON."""
    source: str = ""
    """Path of the case's source; it stays out of JSON, as it differs between machines."""
    shipped: bool = False
    """Whether the case is one of the package's own; it stays out of JSON."""
    prefix: str = ""
    """What reports for a person put before the case, where another group of the run has one of the same name."""

    def __repr__(self) -> str:
        return f"<{self.status.upper()} {self.case} on {self.arch}: {', '.join(self._numbers())}>"

    def _repr_html_(self) -> str:
        """Numbers and findings, for notebooks."""
        pairs = [("kernel", self.kernel), ("device", self.device), ("compared with", ", ".join(self.compared_with))]
        text = facts(
            f"{self.status.upper()} {self.case} on {self.arch}", [("result", ", ".join(self._numbers())), *pairs]
        )
        return text + "".join(finding._repr_html_() for finding in self.findings[:SHOWN])

    def _numbers(self) -> list[str]:
        """Outputs, slots and findings in words."""
        parts = []
        for name, total in (("outputs", self.outputs["elements"]), ("slots", self.mapping["slots_checked"])):
            wrong = self.outputs["mismatches"] if name == "outputs" else self.mapping["mismatches"]
            parts += [f"{name} {total - wrong:,}/{total:,}"] * bool(total)
        parts += [f"{len(self.findings)} findings"] if self.findings else ["no findings"]
        return parts + [f"matrix arithmetic {self.matrix_fidelity}"] * bool(self.matrix_fidelity)

    @property
    def title(self) -> str:
        """The name of the case in the run."""
        return self.prefix + self.case

    @property
    def trust(self) -> Trust:
        """The fidelity of the arithmetic."""
        return Trust(self.fidelity, self.fidelity_of)

    @property
    def judged(self) -> bool:
        """Whether the run compared an output element or followed a slot of a matrix instruction."""
        return bool(self.outputs["elements"] or self.mapping["slots_checked"])

    def settle(self) -> None:
        """Set the status from findings and mismatches."""
        if self.status in ("error", "skipped"):
            return
        accepted = any(finding.check == "outputs" for finding in self.suppressed)
        wrong = self.outputs["mismatches"] and not accepted
        bad = wrong or any(finding.severity == "error" for finding in self.findings)
        self.status = "fail" if bad else "pass"

    def _asked(self) -> dict[str, Any]:
        """Optional fields: those that were requested, or that are not empty."""
        return {"proof": self.proof, "remark": self.remark, "models": [asdict(one) for one in self.models]}

    def record(self) -> dict[str, Any]:
        """The result as a dictionary that JSON can represent."""
        return {
            "schema_version": SCHEMA_VERSION,
            "group": self.group,
            "kernel": self.kernel,
            "arch": self.arch,
            "device": self.device,
            "case": self.case,
            "status": self.status,
            "outputs": self.outputs if self.margin is None else {**self.outputs, "of_bound": round(self.margin, 4)},
            "mapping": self.mapping,
            "lds": self.lds,
            "findings": [finding.record() for finding in self.findings],
            "suppressed": [finding.record() for finding in self.suppressed],
            "fidelity": self.trust.record() | {"matrix": self.matrix_fidelity},
            "compared_with": list(self.compared_with),
            "code": self.code,
            "cover": self.cover,
        } | {key: text for key, text in self._asked().items() if text}
