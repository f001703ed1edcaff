import { ToolError } from "@toolhaft/core";
import type { CodeAction, Command, Diagnostic, TextEdit, WorkspaceEdit } from "vscode-languageserver-protocol";
import type { Range } from "./answer.ts";
import type { Call, Session } from "./ask.ts";
import { errorCode, ResponseError } from "./connection.ts";
import type { ClientCommand } from "./definition.ts";
import { collectRaw } from "./diagnostics/collect.ts";
import { features } from "./features.ts";
import { comparePositions } from "./positions.ts";
import { TimedOut } from "./waiting.ts";
import { isEmptyEdit } from "./workspace-edit/is-empty.ts";

export type Shape = "edit" | "resolve" | "server_command" | "client_command";

/** An action as the server gave it, with what it is for us. */
export interface FoundAction {
  raw: CodeAction | Command;
  title: string;
  kind: string | undefined;
  preferred: boolean;
  disabled: string | undefined;
  shape: Shape;
  fixes: string[];
}

/** All actions for a range; `source.*` ones are asked for apart, for they hide otherwise. */
export async function findActions(
  call: Call,
  session: Session,
  range: Range,
  kind: string | undefined,
): Promise<FoundAction[]> {
  const diagnostics = await diagnosticsIn(call, session, range);
  const ask = (only: string[] | undefined) =>
    session.request<(CodeAction | Command)[] | null>(features.codeActions.method, {
      textDocument: { uri: session.uri },
      range,
      context: { diagnostics, triggerKind: 1, ...(only && { only }) },
    });
  const first = await ask(kind === undefined ? undefined : [kind]);
  const more = kind === undefined && announcesSource(session) ? await ask(["source"]) : [];
  const seen = new Map<string, FoundAction>();
  for (const raw of [...(first ?? []), ...(more ?? [])]) {
    const action = describe(session, raw);
    if (kind !== undefined && action.kind !== undefined && !hasKind(action.kind, kind)) continue;
    const key = `${action.title}\0${action.kind ?? ""}`;
    if (!seen.has(key)) seen.set(key, action);
  }
  return [...seen.values()].sort((a, b) => rank(a) - rank(b));
}

/** "quickfix" holds "quickfix.x". */
export function hasKind(kind: string, wanted: string): boolean {
  return kind === wanted || kind.startsWith(`${wanted}.`);
}

/** Preferred, quickfix, refactor, source, disabled. */
function rank(action: FoundAction): number {
  if (action.disabled !== undefined) return 5;
  if (action.preferred) return 0;
  const order = ["quickfix", "refactor", "source"];
  const at = order.findIndex((kind) => action.kind !== undefined && hasKind(action.kind, kind));
  return at < 0 ? 4 : at + 1;
}

async function diagnosticsIn(call: Call, session: Session, range: Range): Promise<Diagnostic[]> {
  try {
    const all = await collectRaw(call, session);
    return all.filter(
      (one) => comparePositions(one.range.start, range.end) <= 0 && comparePositions(range.start, one.range.end) <= 0,
    );
  } catch (error) {
    // refactorings need no diagnostics; a server that is silent about them may still offer some
    if (error instanceof TimedOut || error instanceof ResponseError) return [];
    throw error;
  }
}

function announcesSource(session: Session): boolean {
  const document = { uri: session.uri, languageId: session.languageId };
  const offers: { codeActionKinds?: unknown }[] = [
    ...session.life.registrations.options(features.codeActions.method, document),
  ];
  const fixed = session.life.capabilities.codeActionProvider;
  if (typeof fixed === "object" && fixed !== null) offers.push(fixed);
  return offers.some(
    (one) =>
      Array.isArray(one.codeActionKinds) && one.codeActionKinds.some((kind) => String(kind).startsWith("source")),
  );
}

function isCommand(raw: CodeAction | Command): raw is Command {
  return typeof raw.command === "string";
}

function describe(session: Session, raw: CodeAction | Command): FoundAction {
  if (isCommand(raw)) {
    const shape = commandShape(session, raw.command);
    return { raw, title: raw.title, kind: undefined, preferred: false, disabled: undefined, shape, fixes: [] };
  }
  const shape: Shape = raw.edit ? "edit" : raw.command ? commandShape(session, raw.command.command) : "resolve";
  return {
    raw,
    title: raw.title,
    kind: raw.kind,
    preferred: raw.isPreferred === true,
    disabled: raw.disabled?.reason,
    shape,
    fixes: (raw.diagnostics ?? []).map((one) => String(one.code ?? one.message)).slice(0, 10),
  };
}

function commandShape(session: Session, command: string): Shape {
  return session.life.definition.clientCommands?.[command] ? "client_command" : "server_command";
}

/** What carrying out an action needs from its surroundings. */
export interface ActionSite {
  apply(edit: WorkspaceEdit): Promise<void>;
  dryRun: boolean;
}

/** Carries an action out in whichever of the five shapes it has; gives the commands that only an editor runs. */
export async function runAction(
  session: Session,
  action: FoundAction,
  site: ActionSite,
): Promise<{ skipped: string[]; did: boolean }> {
  if (action.disabled !== undefined) {
    throw new ToolError("unsupported", `"${action.title}" is disabled: ${action.disabled}`);
  }
  if (isCommand(action.raw)) return runCommand(session, action.raw, site, false);
  let raw: CodeAction = action.raw;
  if (!raw.edit && canResolve(session, raw)) {
    raw = await session.request<CodeAction>("codeAction/resolve", raw, { retry: false });
  }
  let did = false;
  if (raw.edit && !isEmptyEdit(raw.edit)) {
    await site.apply(raw.edit);
    did = true;
  }
  if (!raw.command) return { skipped: [], did };
  const ran = await runCommand(session, raw.command, site, did);
  return { skipped: ran.skipped, did: did || ran.did };
}

function canResolve(session: Session, raw: CodeAction): boolean {
  if (raw.data === undefined && raw.command) return false;
  const fixed = session.life.capabilities.codeActionProvider;
  if (typeof fixed === "object" && fixed !== null && fixed.resolveProvider) return true;
  const document = { uri: session.uri, languageId: session.languageId };
  return session.life.registrations
    .options(features.codeActions.method, document)
    .some((one) => one.resolveProvider === true);
}

/** What an editor does after an edit for the eye, not for the file. */
const cosmetic = /^(?:editor\.action\.|vscode\.|workbench\.|_?typescript\.(?:didApply|didOrganize))/;

async function runCommand(session: Session, command: Command, site: ActionSite, afterEdit: boolean) {
  const { definition, capabilities } = session.life;
  const own = definition.clientCommands?.[command.command];
  if (own) {
    const edit = await clientEdit(session, own, command);
    if (isEmptyEdit(edit)) return { skipped: [], did: false };
    await site.apply(edit);
    return { skipped: [], did: true };
  }
  const announced = capabilities.executeCommandProvider?.commands?.includes(command.command) ?? false;
  if (!announced && cosmetic.test(command.command)) {
    if (afterEdit) return { skipped: [command.command], did: false };
    throw editorOnly(command);
  }
  if (site.dryRun && !definition.editOnlyCommands?.includes(command.command)) {
    if (afterEdit) return { skipped: [command.command], did: false };
    throw new ToolError(
      "unsupported",
      `"${command.title}" runs the command ${command.command}, whose effect only running it shows`,
      {
        hint: "call without dryRun",
      },
    );
  }
  try {
    await session.request(
      "workspace/executeCommand",
      { command: command.command, ...(command.arguments && { arguments: command.arguments }) },
      { retry: false },
    );
  } catch (error) {
    const unknown = error instanceof ResponseError && error.code === errorCode.methodNotFound;
    if (!unknown) throw error;
    if (afterEdit) return { skipped: [command.command], did: false };
    throw editorOnly(command);
  }
  return { skipped: [], did: false };
}

function editorOnly(command: Command): ToolError {
  return new ToolError(
    "unsupported",
    `"${command.title}" needs the command ${command.command}, which only an editor can run`,
  );
}

/** An editor-side command that we know, as the edit it stands for. */
async function clientEdit(session: Session, own: ClientCommand, command: Command): Promise<WorkspaceEdit> {
  const args: unknown[] = command.arguments ?? [];
  if (own.kind === "json-sort") {
    const uri = typeof args[0] === "string" ? args[0] : session.uri;
    const options = { tabSize: 2, insertSpaces: true };
    const edits = await session.request<TextEdit[] | null>("json/sort", { uri, options });
    return { changes: { [uri]: edits ?? [] } };
  }
  const uri = args[own.uri];
  const edits = args[own.edits];
  if (typeof uri !== "string" || !Array.isArray(edits)) {
    throw new ToolError("upstream", `${command.command} came with arguments of an unknown form`);
  }
  const version = args[own.version];
  const textDocument = { uri, version: typeof version === "number" ? version : null };
  return { documentChanges: [{ textDocument, edits: edits as TextEdit[] }] };
}

/** The action of a title: exact, else equal ignoring case, else the only one that contains it. @throws ToolError */
export function pickAction<A extends { action: FoundAction }>(actions: readonly A[], title: string): A {
  const wanted = title.toLowerCase();
  const ways = [
    (one: A) => one.action.title === title,
    (one: A) => one.action.title.toLowerCase() === wanted,
    (one: A) => one.action.title.toLowerCase().includes(wanted),
  ];
  for (const [index, fits] of ways.entries()) {
    const hits = actions.filter(fits);
    const [hit] = hits;
    if (hit && (hits.length === 1 || (index < 2 && new Set(hits.map((one) => one.action.kind)).size < hits.length)))
      return hit;
    if (hits.length > 1) throw severalActions(hits, title);
  }
  const titles = actions.slice(0, 20).map((one) => one.action.title);
  throw new ToolError("not_found", `there is no action "${title}" here`, {
    hint: titles.length > 0 ? `actions here now: ${titles.join(" · ")}` : "there are no actions here now",
  });
}

function severalActions<A extends { action: FoundAction }>(hits: readonly A[], title: string): ToolError {
  const rows = hits.slice(0, 20).map((one) => `${one.action.title}${one.action.kind ? ` (${one.action.kind})` : ""}`);
  return new ToolError("invalid_input", `several actions fit "${title}"`, {
    hint: `give the whole title, kind or server: ${rows.join(" · ")}`,
  });
}
