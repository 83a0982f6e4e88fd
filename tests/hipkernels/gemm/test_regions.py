"""Which wave of the ping-pong fills, reads and computes which rows: the four views of the post's Figure 7, executed."""

from hipkernels.gemm_fp8.regions import share_of_c, share_of_rows

KERNEL = ("scheduled/pingpong.hip", "pingpong")


def test_waves_have_the_rows_of_the_figure_and_of_no_other_formula():
    for matrix in "AB":
        assert share_of_rows(*KERNEL, "write", matrix, lambda wave, row: wave == row // 8 % 8) == 100
        assert share_of_rows(*KERNEL, "write", matrix, lambda wave, row: wave == row // 16 % 8) == 12.5
    assert share_of_rows(*KERNEL, "read", "A", lambda wave, row: wave // 4 == row // 64 % 2) == 100
    assert share_of_rows(*KERNEL, "read", "A", lambda wave, row: wave // 4 == row // 128) == 50
    assert share_of_rows(*KERNEL, "read", "B", lambda wave, row: wave % 4 == row // 32 % 4) == 100
    assert share_of_rows(*KERNEL, "read", "B", lambda wave, row: wave % 4 == row // 64) == 25
    assert share_of_c(*KERNEL, lambda wave, row, column: wave == row // 64 % 2 * 4 + column // 32 % 4) == 100
    assert share_of_c(*KERNEL, lambda wave, row, column: wave == column // 32) == 50
