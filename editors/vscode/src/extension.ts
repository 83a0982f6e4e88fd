/** mfmasim in VS Code: the debugger, findings as problems, and fragments at matrix instructions. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { ADAPTER, INSTRUCTION, hover, show, verify } from "./commands";
import { findings } from "./sarif";

const LEVELS = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
};

function setting(name: string): string {
  return vscode.workspace.getConfiguration("mfmasim").get<string>(name) ?? "";
}

/** Folder in which mfmasim runs: that of the workspace, or of the file. */
function folder(uri: vscode.Uri): string {
  return vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
}

/** Run mfmasim; a name with a folder in it is relative to the workspace. Exit code 1 means findings, 2 bad input. */
function run(words: string[], cwd: string): Promise<{ code: number; out: string; err: string }> {
  const given = setting("executable");
  const program = given.includes(path.sep) ? path.resolve(cwd, given) : given;
  return new Promise((resolve) => {
    execFile(program, words, { cwd, maxBuffer: 1 << 26 }, (error, out, err) => {
      const code = typeof error?.code === "number" ? error.code : error ? 2 : 0;
      resolve({ code, out, err: err || (error && code === 2 ? error.message : "") });
    });
  });
}

async function verifyFile(problems: vscode.DiagnosticCollection): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined) return;
  await document.save();
  const cwd = folder(document.uri);
  const place = await mkdtemp(path.join(tmpdir(), "mfmasim-"));
  try {
    const log = path.join(place, "findings.sarif");
    const done = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "mfmasim verify" },
      () => run(verify(document.uri.fsPath, log), cwd)
    );
    const text = await readFile(log, "utf8").catch(() => "");
    if (!text) {
      void vscode.window.showErrorMessage(done.err.trim() || "mfmasim wrote no findings");
      return;
    }
    problems.clear();
    const files = new Map<string, vscode.Diagnostic[]>();
    for (const one of findings(text)) {
      const line = one.line - 1;
      const range = new vscode.Range(line, 0, line, Number.MAX_SAFE_INTEGER);
      const made = new vscode.Diagnostic(range, one.message, LEVELS[one.level]);
      made.source = "mfmasim";
      made.code = one.id;
      const file = path.resolve(cwd, one.file);
      files.set(file, [...(files.get(file) ?? []), made]);
    }
    for (const [file, each] of files) problems.set(vscode.Uri.file(file), each);
    if (files.size === 0) void vscode.window.setStatusBarMessage("mfmasim: no findings", 5000);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

export function activate(context: vscode.ExtensionContext): void {
  const problems = vscode.languages.createDiagnosticCollection("mfmasim");
  const known = new Map<string, Promise<string>>();
  const languages = [{ language: "hip" }, { language: "cpp" }, { pattern: "**/*.s" }];
  context.subscriptions.push(
    problems,
    vscode.debug.registerDebugAdapterDescriptorFactory("mfmasim", {
      createDebugAdapterDescriptor(session) {
        const cwd = session.workspaceFolder?.uri.fsPath;
        const given = setting("executable");
        const program = cwd !== undefined && given.includes(path.sep) ? path.resolve(cwd, given) : given;
        return new vscode.DebugAdapterExecutable(program, ADAPTER, cwd === undefined ? undefined : { cwd });
      },
    }),
    vscode.commands.registerCommand("mfmasim.verify", () => verifyFile(problems)),
    vscode.languages.registerHoverProvider(languages, {
      async provideHover(document, position) {
        const range = document.getWordRangeAtPosition(position, INSTRUCTION);
        if (range === undefined) return undefined;
        const name = document.getText(range);
        const arch = setting("arch");
        const key = `${arch} ${name}`;
        if (!known.has(key))
          known.set(
            key,
            run(show(arch, name), folder(document.uri)).then((done) =>
              done.code === 0 ? hover(arch, name, done.out) : done.err.trim()
            )
          );
        return new vscode.Hover(new vscode.MarkdownString(await known.get(key)), range);
      },
    })
  );
}
