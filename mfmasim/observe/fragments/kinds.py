"""Kinds of findings of the check `mapping`, which `mfmasim.verify` makes."""

from __future__ import annotations

from mfmasim.observe.finding import Kind

MAPPING = (
    Kind(
        "mapping-wrong-element", "error", "A slot of a fragment holds the wrong element",
        "Provenance tracked the element from its argument to the matrix instruction; the layout requires another one.",
        "lane 5 holds A[0, 5] where the instruction needs A[5, 0]",
        "Compare with mfmasim show ARCH INSTRUCTION --operand A; the message names the pattern if there is one.",
    ),
    Kind(
        "mapping-copies-differ", "error", "The two copies of an operand in a wave differ",
        "RDNA3 requires each row of A and column of B in every 16 lanes of the wave; other contents are undocumented.",
        "lanes 16 to 31 of A hold other rows than lanes 0 to 15",
        "Load both halves from lane % 16.",
    ),
    Kind(
        "mapping-wrong-scale", "error", "An element is multiplied by the scale of another block",
        "Uniform scales hide it; other data do not.",
        "the scale of K block 0 is used for K block 1",
        "Correct the scale's lane, or the byte that op_sel chooses.",
    ),
    Kind(
        "mapping-wrong-index", "error", "The position of a kept element is that of another",
        "A sparse A has an index beside its kept elements: two bits that select one of four rows of B. They came from "
        "the place of another kept element.",
        "index[0, 8] is used for A[0, 0]",
        "Correct the load of the index, or what selects a part of its register: ABID, or OP_SEL on RDNA4.",
    ),
    Kind(
        "mapping-wrong-format", "error", "An operand is read in a different format than its argument has",
        "The bits are right, but they are interpreted differently.",
        "the argument holds e5m2, cbsz says e4m3",
        "Select the instruction, or cbsz and blgp, by the argument's format.",
    ),
    Kind(
        "mapping-accumulator", "error", "An accumulator does not hold the expected value",
        "It was never initialised, or it does not continue from one result, slot by slot.",
        "acc is used without acc = {0}",
        "Initialise it, and pass each result on in the same registers.",
    ),
    Kind(
        "mapping-wrong-output", "error", "A result or an accumulator belongs to another element of C",
        "The result is stored to, or started from, an element that does not match its row and column.",
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
        "mapping-wrong-sum", "error", "The sum omits values of K, or adds some twice",
        "Over the instructions that contribute to one element, every K has to occur exactly once.",
        "for (k = 0; k < K - 32; k += 32)",
        "Correct the bounds or the step of the K loop.",
    ),
    Kind(
        "mapping-stale-padding", "error", "Beyond the end of K only one operand holds zeros",
        "The other operand holds an element, such as that of the previous step. While it is finite the product is 0 "
        "and outputs are right; if it is Inf or NaN, the sum is NaN.",
        "if (k < K) a = A[row * lda + k];  // a keeps its old value, b is 0",
        "Set both operands to zero there.",
    ),
    Kind(
        "mapping-k-permuted", "info", "K is permuted identically in A and B",
        "The exact product is the same. With block scales, each element still has to be multiplied by its own scale.",
        "A and B are both loaded as 16 consecutive bytes per lane",
        "Nothing, if it is intended.",
    ),
    Kind(
        "mapping-wrong-source", "error", "An output element comes from another element than declared",
        "The case declares with ComesFrom which input element each output element is; labels that went through the "
        "kernel show another one. Symmetric data hide it.",
        "out[row * cols + col] = in[row * cols + col];  // declared as the transpose",
        "Correct the index of the load or of the store, or the declaration.",
    ),
    Kind(
        "mapping-wrong-set", "error", "An output depends on other elements than declared",
        "The case declares with DependsOn which input elements contribute to each output element. Elements of equal "
        "value hide it.",
        "the scale of a block of columns is taken from a block of rows",
        "Correct the bounds of the reduction, or the declaration.",
    ),
    Kind(
        "mapping-not-followed", "info", "Elements or results that provenance cannot track",
        "Operands were converted, or results were processed further.",
        "C[i] = relu(acc)",
        "Nothing; outputs are still compared.",
    ),
    Kind(
        "mapping-no-matrix", "info", "No matrix instruction was executed",
        "There is no mapping to check; outputs are compared all the same. An error if the case demands one: by "
        "mapping=, or with a pattern of matrix instructions in executes=.",
        "a product by v_fma_f32",
        "Declare the case with trace=False if none is meant.",
    ),
    Kind(
        "mapping-not-traced", "error", "The mapping cannot be checked",
        "The data determine which matrix instructions are executed.",
        "if (a[0] > 0) acc = mfma(a, b, acc);",
        "Declare the case with trace=False.",
    ),
)  # fmt: skip
