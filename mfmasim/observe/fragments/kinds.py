"""Kinds of findings of the check `mapping`, which `mfmasim.verify` makes."""

from __future__ import annotations

from mfmasim.observe.finding import Kind

__all__ = ["MAPPING"]

MAPPING = (
    Kind(
        "mapping-wrong-element", "error", "A slot of a fragment holds another element than it needs",
        "Provenance followed the element from its argument to the matrix instruction; the layout needs another.",
        "lane 5 holds A[0, 5] where the instruction needs A[5, 0]",
        "Compare with mfmasim show ARCH INSTRUCTION --operand A; the message names a pattern where there is one.",
    ),
    Kind(
        "mapping-copies-differ", "error", "The copies of an operand in two halves of a wave differ",
        "RDNA3 wants each row of A and column of B in every 16 lanes of the wave; what else it does is not said.",
        "lanes 16 to 31 of A hold other rows than lanes 0 to 15",
        "Load both halves from lane % 16.",
    ),
    Kind(
        "mapping-wrong-scale", "error", "An element meets another block's scale",
        "Uniform scales hide it; other data do not.",
        "the scale of K block 0 is used for K block 1",
        "Correct the scale's lane, or the byte that op_sel chooses.",
    ),
    Kind(
        "mapping-wrong-format", "error", "An operand is read in another format than its argument has",
        "The bits are right, their meaning is not.",
        "the argument holds e5m2, cbsz says e4m3",
        "Choose the instruction or cbsz/blgp by the argument's format.",
    ),
    Kind(
        "mapping-accumulator", "error", "An accumulator does not hold what it should",
        "It was never initialised, or it does not go on from one result, place by place.",
        "acc is used without acc = {0}",
        "Initialise it, and pass each result on in the same registers.",
    ),
    Kind(
        "mapping-wrong-output", "error", "A result or an accumulator belongs to another element of C",
        "The result is stored at, or started from, an element that its row and column do not give.",
        "C[col * N + row] = d[i];",
        "Take row and column from the layout of D.",
    ),
    Kind(
        "mapping-no-result", "error", "Elements of C hold no result of a matrix instruction",
        "They were never written, or hold a constant.",
        "the grid is too small for M and N",
        "Cover all of C, or declare it smaller.",
    ),
    Kind(
        "mapping-wrong-sum", "error", "The sum leaves out K, or takes it twice",
        "Over the instructions that end in one element, every K has to occur once.",
        "for (k = 0; k < K - 32; k += 32)",
        "Correct the bounds or the step of the K loop.",
    ),
    Kind(
        "mapping-stale-padding", "error", "Beyond the end of K only one of the operands holds zeros",
        "The other one holds an element, such as what the last step left there. While that element is finite the "
        "product is 0 and outputs are right; if it is an infinity or a NaN, the sum is a NaN.",
        "if (k < K) a = A[row * lda + k];  // a keeps its old value, b is 0",
        "Put zeros into both operands.",
    ),
    Kind(
        "mapping-k-permuted", "info", "K is permuted alike in A and B",
        "The exact product is the same. With block scales each element has to meet its own.",
        "A and B are both loaded as 16 consecutive bytes a lane",
        "Nothing, if it is meant.",
    ),
    Kind(
        "mapping-wrong-source", "error", "An output element comes from another element than declared",
        "The case declares with ComesFrom which element of the input each element of the output is; labels that went "
        "through the kernel say another one. Symmetric data hide it.",
        "out[row * cols + col] = in[row * cols + col];  // declared as the transpose",
        "Correct the index of the load or of the store, or the declaration.",
    ),
    Kind(
        "mapping-wrong-set", "error", "An output depends on other elements than declared",
        "The case declares with DependsOn which elements of the input feed each element of the output. Elements of "
        "one size hide it.",
        "the scale of a block of columns is taken from a block of rows",
        "Correct the bounds of the reduction, or the declaration.",
    ),
    Kind(
        "mapping-not-followed", "info", "Elements or results that provenance does not follow",
        "Operands were converted, results computed further, or the instruction is sparse.",
        "C[i] = relu(acc)",
        "Nothing; outputs are compared all the same.",
    ),
    Kind(
        "mapping-not-traced", "error", "The mapping cannot be checked",
        "No matrix instruction was executed, or which are depends on data.",
        "a kernel without matrix instructions",
        "Declare the case with trace=False.",
    ),
)  # fmt: skip
