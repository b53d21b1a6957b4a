// Starts `osbctl lsp` once a catalog is open. Where it cannot be started, an item of the status bar says what to do.

import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient } from "vscode-languageclient/node";
import { isNothingYet, mayBeCatalog } from "./evidence";

const INSTALL = `pipx install --force '.[lsp]'`;
const IN_CLONE = INSTALL.includes("'.") ? "In a clone of osbctl, type" : "Type";
const PROGRAM = process.platform === "win32" ? "osbctl.exe" : "osbctl";
const IN_VENV = join(".venv", process.platform === "win32" ? "Scripts" : "bin", PROGRAM);
const OUTPUT_KEPT = 4000; // characters of standard error; enough for an error and its advice
const PAUSE = 300; // milliseconds without a change before a text is looked at again

interface Problem {
  text: string;
  command: string; // that mends it, if there is one
}

let client: LanguageClient | undefined;
let started = false; // the search for the program is not repeated at every change of a text
let problem: Problem | undefined;
let status: vscode.StatusBarItem;
let pause: NodeJS.Timeout | undefined;

export function activate(context: vscode.ExtensionContext): void {
  status = vscode.window.createStatusBarItem("osbctl", vscode.StatusBarAlignment.Right);
  status.name = "osbctl";
  status.text = "$(warning) osbctl";
  status.command = "osbctl.showProblem";
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand("osbctl.restart", restartAndTell),
    vscode.commands.registerCommand("osbctl.showProblem", showProblem),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("osbctl")) void restart();
    }),
    vscode.workspace.onDidOpenTextDocument(startForCatalogs),
    vscode.workspace.onDidChangeTextDocument(() => {
      clearTimeout(pause);
      pause = setTimeout(startForCatalogs, PAUSE);
    }),
    vscode.window.onDidChangeActiveTextEditor(showStatus),
  );
  startForCatalogs();
}

export async function deactivate(): Promise<void> {
  clearTimeout(pause);
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

/** Start the server if an open file may be a catalog; other projects have JSON and YAML, too. */
function startForCatalogs(): void {
  if (!started && vscode.workspace.textDocuments.some(isCatalog)) void start();
  else showStatus();
}

function isCatalog(document: vscode.TextDocument): boolean {
  const known = ["yaml", "json", "jsonc"].includes(document.languageId) && document.uri.scheme === "file";
  return known && mayBeCatalog(document.uri.fsPath, document.getText());
}

async function restart(): Promise<void> {
  await deactivate();
  started = false;
  problem = undefined;
  startForCatalogs();
}

/** What the user asks for is answered in any project, and with a message if it fails. */
async function restartAndTell(): Promise<void> {
  await deactivate();
  await start();
  if (problem) await showProblem();
}

/** Find the program and start the client. */
async function start(): Promise<void> {
  started = true;
  problem = undefined;
  showStatus();
  const program = findProgram();
  if (program === undefined) {
    const path = configuredPath();
    if (path) report(`${path} is not a program that can be run (setting osbctl.path).`);
    else report("osbctl is not installed, or not on PATH.", INSTALL);
    return;
  }
  const files = ["yaml", "json", "jsonc"].map((language) => ({ scheme: "file", language }));
  const starting = new LanguageClient("osbctl", "osbctl", () => launch(program), {
    documentSelector: files,
    middleware: {
      // The snippets of this extension have a new catalog, with the server and without.
      provideCompletionItem: async (document, position, context, token, next) => {
        if (isNothingYet(document.getText())) return undefined;
        const found = await next(document, position, context, token);
        const items = Array.isArray(found) ? found : found?.items;
        return items?.filter((item) => item.label !== "osb-catalog");
      },
    },
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
    if (code) report(printed.trim() || `${program} lsp ended with exit code ${code}.`);
  });
  await new Promise((resolve, reject) => {
    server.once("spawn", resolve);
    server.once("error", reject);
  }).catch((error: Error) => {
    report(`${program} could not be started: ${error.message}`);
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

/** Keep what went wrong, for the status bar: a message in the way of other work is for those who ask. */
function report(text: string, command = ""): void {
  problem = { text, command };
  showStatus();
}

/** Show the item of the status bar beside a catalog that gets no findings. */
function showStatus(): void {
  const document = vscode.window.activeTextEditor?.document;
  if (problem && document && isCatalog(document)) {
    status.tooltip = describe(problem);
    status.accessibilityInformation = { label: `osbctl: ${describe(problem)}`, role: "button" };
    status.show();
  } else status.hide();
}

function describe({ text, command }: Problem): string {
  return command ? `${text} ${IN_CLONE}: ${command}` : text;
}

/** Show the problem, and offer what mends it. */
async function showProblem(): Promise<void> {
  if (!problem) return;
  const { command } = problem;
  const actions = [...(command ? ["Copy command"] : []), "Open setting", "Try again"];
  const answer = await vscode.window.showErrorMessage(describe(problem), ...actions);
  if (answer === "Copy command") await vscode.env.clipboard.writeText(command);
  if (answer === "Open setting") await vscode.commands.executeCommand("workbench.action.openSettings", "osbctl.path");
  if (answer === "Try again") await restartAndTell();
}
