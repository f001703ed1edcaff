import type { Diagnostic } from "vscode-languageserver-protocol";
import type { Session } from "../ask.ts";
import type { OpenDocument } from "../documents.ts";
import type { Publish } from "../published.ts";
import { bounded, TimedOut } from "../waiting.ts";

/** Quiet time after a publish without a version; some servers publish twice. */
const quietMs = 250;
/** After an empty first one, which many servers send at once and mean nothing by. */
const emptyQuietMs = 1_000;

/** What the server has published for the document's present text, if that is certain by now. */
export function confirmed(session: Session, document: OpenDocument): Diagnostic[] | undefined {
  const publish = session.life.published.get(document.path);
  if (!publish || publish.at < document.sentAt) return undefined;
  if (publish.version !== undefined) return publish.version >= document.version ? publish.diagnostics : undefined;
  const quiet = performance.now() - publish.at;
  if (session.life.progress.running().length > 0 || quiet < quietFor(publish)) return undefined;
  return publish.diagnostics;
}

function quietFor(publish: Publish): number {
  return publish.diagnostics.length === 0 && publish.count === 1 ? emptyQuietMs : quietMs;
}

/** Waits for a publish for the present text. @throws TimedOut at the bound */
export async function awaitPublish(
  session: Session,
  document: OpenDocument,
  boundMs: number,
  signal: AbortSignal,
): Promise<Diagnostic[]> {
  const now = confirmed(session, document);
  if (now) return now;
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};
  const arrived = new Promise<Diagnostic[]>((resolve) => {
    const look = () => {
      const diagnostics = confirmed(session, document);
      if (diagnostics) resolve(diagnostics);
    };
    unsubscribe = session.life.published.onPublish(look);
    // quiet is the absence of events: it has to be looked for
    timer = setInterval(look, 50);
  });
  try {
    const gone = session.life.lost.then(() => undefined);
    const result = await bounded(Promise.race([arrived, gone]), boundMs, signal);
    if (result === undefined) throw new TimedOut(boundMs);
    return result;
  } finally {
    clearInterval(timer);
    unsubscribe();
  }
}
