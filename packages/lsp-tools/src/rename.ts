import { ToolError } from "@toolhaft/core";
import type { Location, LocationLink, WorkspaceEdit } from "vscode-languageserver-protocol";
import type { Pos, Target } from "./answer.ts";
import type { Call, Session } from "./ask.ts";
import { features } from "./features.ts";
import { languageFor } from "./languages.ts";
import type { OpenFile } from "./open-file.ts";
import { spotsOf } from "./places.ts";
import { nearestIdentifier } from "./positions.ts";
import { occurrences } from "./symbol-address.ts";
import { openOrChange } from "./sync.ts";
import { isInside, pathToUri, realPathOf, uriToPath } from "./uris.ts";
import { filesBelow } from "./workspace-search.ts";

/** Whether the server can be asked beforehand. */
export function canPrepareRename(session: Session): boolean {
  const fixed = session.life.capabilities.renameProvider;
  if (typeof fixed === "object" && fixed !== null) return fixed.prepareProvider === true;
  const document = { uri: session.uri, languageId: session.languageId };
  return session.life.registrations
    .options(features.rename.method, document)
    .some((one) => one.prepareProvider === true);
}

/** @throws ToolError `invalid_input` for names that no language takes */
export function checkNewName(newName: string, oldName: string | undefined): void {
  const wrong =
    newName.trim() === ""
      ? "is empty"
      : /[\r\n]/.test(newName)
        ? "holds a line break"
        : newName === oldName
          ? "is the name it has already"
          : undefined;
  if (wrong) throw new ToolError("invalid_input", `newName ${wrong}`, { hint: "give another name" });
}

export interface RenameAnswer {
  edit: WorkspaceEdit | null;
  /** The rename was asked for at the definition, there. */
  definition?: { path: string; position: Pos } | undefined;
  /** Files that had to be opened first, and whether all that hold the name could be. */
  opened: number;
  uncovered: number;
}

const maxOpened = 500;

/** Asks for a rename, at the definition where a use would only add an alias. */
export async function askRename(
  call: Call,
  file: OpenFile,
  target: Target,
  session: Session,
  newName: string,
): Promise<RenameAnswer> {
  const { definition } = session.life;
  const covered = definition.editsOpenFilesOnly
    ? await openAllWith(call, session, target.name)
    : { opened: 0, uncovered: 0 };
  const place = definition.renameAtDefinition ? await definitionOf(call, file, target, session) : undefined;
  const at = place ?? { uri: session.uri, position: target.position };
  const edit = await session.request<WorkspaceEdit | null>(
    features.rename.method,
    { textDocument: { uri: at.uri }, position: at.position, newName },
    { retry: false },
  );
  return { edit, ...(place && { definition: { path: place.path, position: place.position } }), ...covered };
}

/** Where the name is defined, if that is another place of the workspace with the same name on it. */
async function definitionOf(call: Call, file: OpenFile, target: Target, session: Session) {
  type Result = Location | (Location | LocationLink)[] | null;
  const result = await session.request<Result>(features.definition.method, {
    textDocument: { uri: session.uri },
    position: target.position,
  });
  const [spot] = spotsOf(result);
  const path = spot && uriToPath(spot.uri);
  if (!spot || path === undefined) return undefined;
  const real = realPathOf(path);
  const { directory, worktree, roots } = call.scope;
  if (![directory, worktree, ...roots].some((root) => isInside(root, real)) || /[\\/]node_modules[\\/]/.test(real))
    return undefined;
  const text = real === file.text.path ? file.text : await call.engine.texts.tryRead(real, call.scope);
  if (!text) return undefined;
  const { line, character } = spot.range.start;
  const name = nearestIdentifier(text.source.line(line), character);
  // an alias of our own has another name than what it stands for: renaming that is another wish
  if (!name?.touches || name.word.text !== target.name) return undefined;
  const position = { line, character: name.word.start };
  if (real === file.text.path) {
    const same = position.line === target.position.line && position.character === target.position.character;
    return same ? undefined : { uri: session.uri, path: real, position };
  }
  const languageId = languageFor(session.life.definition, { path: real, overrides: {}, interpreter: undefined });
  if (languageId === undefined) return undefined;
  openOrChange(session.life, real, languageId, text.source.text);
  return { uri: pathToUri(real), path: real, position };
}

/** Some servers edit open documents only: all that hold the name are opened, up to 500. */
async function openAllWith(call: Call, session: Session, name: string | undefined) {
  let opened = 0;
  let uncovered = 0;
  if (name === undefined) return { opened, uncovered };
  const { life } = session;
  for (const path of await filesBelow(life.root, 20_000)) {
    const languageId = languageFor(life.definition, { path, overrides: {}, interpreter: undefined });
    if (languageId === undefined) continue;
    const text = await call.engine.texts.tryRead(path, call.scope);
    if (!text || occurrences(text.source.text, name).length === 0) continue;
    if (opened >= maxOpened) uncovered++;
    else {
      openOrChange(life, text.path, languageId, text.source.text);
      opened++;
    }
  }
  return { opened, uncovered };
}
