"""Negatives: right outputs, wrong order. `mfmasim verify hipkernels/gemm_fp8/scheduled/wrong_cases.py` fails."""

from hipkernels.gemm_fp8.scheduled.schedules import wrong

wrong()
