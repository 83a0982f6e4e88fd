"""The FP8 GEMM of the parent family with waves scheduled by hand: 8-wave ping-pong and 4-wave interleave."""

from hipkernels.gemm_fp8.scheduled.schedules import right

right()
