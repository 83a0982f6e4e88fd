"""Autotuned kernels: the first configuration that compiles and fits the device is taken, without a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfmasim.triton.patches import Patches

CHOSEN = "_mfmasim_chosen"
WORST = [float("inf")] * 3
"""Times of a configuration that is not taken, as Triton gives them to one that does not fit."""


def patch(choice: str, patches: Patches) -> None:
    """Replace how Triton's autotuner measures configurations.

    Args:
        choice: ``first``, or ``all``, which leaves the autotuner as it is.
        patches: what the session replaces.
    """
    if choice == "all":
        return
    from triton.runtime.autotuner import Autotuner, OutOfResources

    launch = Autotuner.run

    def run(self: object, *args: Any, **kwargs: Any) -> Any:
        setattr(self, CHOSEN, False)
        return launch(self, *args, **kwargs)

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        if getattr(self, CHOSEN, False):
            return WORST
        options = {**meta, **config.all_kwargs(), "warmup": True}
        if config.pre_hook is not None:  # it may change arguments, such as the blocks of tensor descriptors
            config.pre_hook({**self.nargs, **options})
        try:
            kernel = self.fn.run(*args, **options)
            kernel._init_handles()  # noqa: SLF001  (raises where the device has too little LDS)
        except OutOfResources:
            return WORST
        setattr(self, CHOSEN, True)
        return [0.0] * 3

    patches.set(Autotuner, "run", run)
    patches.set(Autotuner, "_bench", bench)
