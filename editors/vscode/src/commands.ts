/** The command lines that the extension runs, and what it reads from a text. No part of it needs VS Code. */

/** Arguments of the debug adapter, which speaks over standard input and output. */
export const ADAPTER = ["debug", "--dap"];

/** Arguments that verify a case file and write its findings. */
export function verify(file: string, sarif: string): string[] {
  return ["verify", file, "--quiet", "--sarif", sarif];
}

/** A mnemonic of a matrix instruction, or the builtin of one. */
export const INSTRUCTION = /\b(?:__builtin_amdgcn_|v_)(?:smfmac|swmmac|mfma|wmma)_\w+/;

/** Arguments that describe a matrix instruction in Markdown. */
export function show(arch: string, instruction: string): string[] {
  return ["show", arch, instruction, "--format", "markdown"];
}

/** The Markdown of a hover: the instruction's row, and how an element of it is found. */
export function hover(arch: string, instruction: string, printed: string): string {
  return `**${instruction}** on ${arch}\n\n${printed.trim()}\n\n\`mfmasim show ${arch} ${instruction} 'D[0,0]'\``;
}
