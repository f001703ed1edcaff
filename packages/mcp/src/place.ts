import { createContext, createId, defaultPolicy, type Policy, type ToolContext } from "@toolhaft/core";
import type { ServeOptions, Workspace } from "./types.ts";
import { resolveWorkspace } from "./workspace.ts";

/** How long a client may take to name its roots before calls go on without them, in milliseconds. */
const rootsTimeoutMs = 2_000;

/** Where a session works and what it may do there. */
export interface Place {
  workspace: Workspace;
  policy: Policy;
  /** Shared by all calls of the session: read marks, loaded tools and remembered answers hang on it. */
  context: ToolContext;
}

/** The place of one session, which moves when the client's roots do. */
export interface SessionPlace {
  readonly sessionId: string;
  current(): Place;
  /** Resolves when the roots that are being asked for have come, or will not. */
  settled(): Promise<unknown>;
  setRoots(roots: readonly string[] | undefined): void;
  awaitRoots(roots: Promise<readonly string[] | undefined>): Promise<void>;
}

export function createSessionPlace(
  options: ServeOptions,
  onError: (error: Error) => void,
  onMove: () => void,
): SessionPlace {
  const sessionId = createId();
  let roots: readonly string[] | undefined;
  let place: Place | undefined;
  let pending: Promise<unknown> = Promise.resolve();

  const settle = (): Place => {
    const { workspace, note } = resolveWorkspace({
      directory: options.directory,
      roots,
      workingDirectory: process.cwd(),
    });
    if (note !== undefined) onError(new Error(note));
    const policy = policyOf(options.policy, workspace);
    const context = createContext({
      // What a person allowed for the session stays allowed.
      ...place?.context,
      sessionId,
      directory: workspace.directory,
      worktree: workspace.directory,
      roots: workspace.roots,
      policy,
      askTimeoutMs: options.askTimeoutMs ?? 600_000,
      ...(options.clock && { clock: options.clock }),
      ...(options.task && { task: options.task }),
    });
    return { workspace, policy, context };
  };
  const setRoots = (next: readonly string[] | undefined) => {
    roots = next;
    place = settle();
    onMove();
  };

  return {
    sessionId,
    setRoots,
    current() {
      place ??= settle();
      return place;
    },
    settled: () => pending,
    awaitRoots(asked) {
      const answered = within(rootsTimeoutMs, asked).then(setRoots, (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        onError(new Error(`the client did not name its roots: ${reason}`));
      });
      pending = answered;
      return answered;
    },
  };
}

function policyOf(given: ServeOptions["policy"], workspace: Workspace): Policy {
  if (typeof given === "function") return given(workspace);
  return given ?? defaultPolicy(workspace.directory, workspace.roots);
}

function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
