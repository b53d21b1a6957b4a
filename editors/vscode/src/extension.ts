// Starts `osbctl lsp` for the catalogs of a window, and says what to do where it cannot be started.

import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient } from "vscode-languageclient/node";

const INSTALL = `pipx install '../osbctl[lsp]'`;
const PROGRAM = process.platform === "win32" ? "osbctl.exe" : "osbctl";
const IN_VENV = join(".venv", process.platform === "win32" ? "Scripts" : "bin", PROGRAM);
const OUTPUT_KEPT = 4000; // characters of standard error; enough for an error and its advice

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("osbctl.restart", restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("osbctl")) void restart();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

/** Find the program and start the client; on failure show one message and leave the editor as it was. */
async function start(): Promise<void> {
  const program = findProgram();
  if (program === undefined) {
    const path = configuredPath();
    if (path) void complain(`${path} is not a program that can be run (setting osbctl.path).`);
    else void complain("osbctl is not installed, or not on PATH.", INSTALL);
    return;
  }
  const files = ["yaml", "json", "jsonc"].map((language) => ({ scheme: "file", language }));
  const starting = new LanguageClient("osbctl", "osbctl", () => launch(program), {
    documentSelector: files,
    // A server that ended has already been reported by `launch`. Restarting it would repeat the same failure.
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    initializationFailedHandler: () => false,
  });
  client = starting;
  try {
    await starting.start();
  } catch {
    if (client === starting) client = undefined;
  }
}

/** Run the server. What it prints on standard error is shown if it ends with an error, such as a missing extra. */
async function launch(program: string): Promise<ChildProcess> {
  const server = spawn(program, ["lsp"], { cwd: workspaceFolder() ?? homedir() });
  let printed = "";
  server.stderr.setEncoding("utf8");
  server.stderr.on("data", (text: string) => {
    printed = (printed + text).slice(-OUTPUT_KEPT);
  });
  server.on("exit", (code) => {
    if (code) void complain(printed.trim() || `${program} lsp ended with exit code ${code}.`);
  });
  await new Promise((resolve, reject) => {
    server.once("spawn", resolve);
    server.once("error", reject);
  }).catch((error: Error) => {
    void complain(`${program} could not be started: ${error.message}`);
    throw error;
  });
  return server;
}

/** The setting, then `.venv` of the workspace, then PATH. A workspace that is not trusted names no program. */
function findProgram(): string | undefined {
  const path = configuredPath();
  if (path) return isExecutable(path) ? path : undefined;
  const folder = workspaceFolder();
  const candidates = (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((entry) => join(entry, PROGRAM));
  if (folder && vscode.workspace.isTrusted) candidates.unshift(join(folder, IN_VENV));
  return candidates.find(isExecutable);
}

function configuredPath(): string {
  // The editor itself ignores the value of an untrusted workspace: see restrictedConfigurations in package.json.
  const path = vscode.workspace.getConfiguration("osbctl").get<string>("path", "").trim();
  return path.replace(/^~(?=[\\/])/, homedir()).replace("${workspaceFolder}", workspaceFolder() ?? "");
}

function workspaceFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file")?.uri.fsPath;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Show an error, with the command that mends it if there is one. */
async function complain(problem: string, command = ""): Promise<void> {
  const actions = [...(command ? ["Copy command"] : []), "Open setting", "Try again"];
  const answer = await vscode.window.showErrorMessage(command ? `${problem} Type: ${command}` : problem, ...actions);
  if (answer === "Copy command") await vscode.env.clipboard.writeText(command);
  if (answer === "Open setting") await vscode.commands.executeCommand("workbench.action.openSettings", "osbctl.path");
  if (answer === "Try again") await restart();
}
