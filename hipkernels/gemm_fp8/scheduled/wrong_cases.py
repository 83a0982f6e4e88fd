"""Negatives: right outputs, wrong order. `mfmasim verify hipkernels/gemm_fp8/scheduled/wrong_cases.py` fails."""

from schedules import wrong

wrong()
