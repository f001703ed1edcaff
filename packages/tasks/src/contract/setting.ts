import type { Edge, EdgeKind } from "../edges.ts";
import type { Actor, Task } from "../model.ts";
import type { Applied, Claim, ClaimQuery, NewTask, TaskBackend } from "../store.ts";

/** A fresh store that nobody else uses. */
export interface StoreUnderTest {
  backend: TaskBackend;
  /** Another handle on the same store, as another process has it; closed with the store. */
  another(): Promise<TaskBackend>;
  /** Lets so many milliseconds pass by the clock of the store. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenStore = () => Promise<StoreUnderTest>;

export interface ContractCase {
  title: string;
  run(store: StoreUnderTest): Promise<void>;
}

export async function withStore(open: OpenStore, run: ContractCase["run"]): Promise<void> {
  const store = await open();
  try {
    await run(store);
  } finally {
    await store.close();
  }
}

/** Milliseconds of every lease and limit here: short enough to wait for where the clock cannot be moved. */
export const leaseMs = 400;

export const poster: Actor = { agent: "poster", sessionId: "root" };
export const worker = (name: string): Actor => ({ agent: name, sessionId: `session-${name}` });

let keys = 0;
export const newKey = (): string => `key-${++keys}`;

export function boardTask(more: Partial<NewTask> = {}): NewTask {
  return {
    kind: "board",
    title: "a task",
    body: "do it",
    createdBy: poster,
    ownerSession: "root",
    rootSession: "root",
    maxAttempts: 3,
    ...more,
  };
}

export function runTask(more: Partial<NewTask> = {}): NewTask {
  return { ...boardTask({ kind: "dispatch", agent: "coder", lane: "model", mode: "background", depth: 1 }), ...more };
}

export async function postOne({ queue }: TaskBackend, task: NewTask): Promise<Task> {
  const [posted] = await queue.post([task]);
  if (posted === undefined) throw new Error("post gave nothing");
  return posted.task;
}

export function claimQuery(kind: "board" | "dispatch", more: Partial<ClaimQuery> = {}): ClaimQuery {
  return { by: worker("A"), kind, leaseMs, engine: "engine-A", ...more };
}

export async function claimOne(backend: TaskBackend, query: ClaimQuery): Promise<Claim> {
  const [claim] = await backend.queue.claim(query);
  if (claim === undefined) throw new Error("nothing could be claimed");
  return claim;
}

/** A claimed task, started where it is one of a dispatcher. */
export async function runningTask(
  backend: TaskBackend,
  task: NewTask,
  query: Partial<ClaimQuery> = {},
): Promise<Claim> {
  const { id, kind } = await postOne(backend, task);
  const claim = await claimOne(backend, claimQuery(kind, { taskId: id, ...query }));
  if (kind === "dispatch") await applied(backend, id, { kind: "start", key: newKey(), ref: claim });
  return claim;
}

export async function applied(backend: TaskBackend, id: string, edge: Edge): Promise<Extract<Applied, { ok: true }>> {
  const answer = await backend.queue.apply(id, edge);
  if (!answer.ok) throw new Error(`${edge.kind} was refused: ${answer.why}, the task is ${answer.task?.state}`);
  return answer;
}

export async function complete(backend: TaskBackend, claim: Claim, text = "done"): Promise<Applied> {
  return backend.queue.apply(claim.taskId, { kind: "complete", key: newKey(), ref: claim, result: { text } });
}

/** The kinds of a task's events, in order. */
export async function eventsOf({ store }: TaskBackend, id: string): Promise<string[]> {
  const page = await store.events(id, { limit: 10_000 });
  return page.items.map(({ kind }) => kind);
}

export type AnyEdgeKind = Exclude<EdgeKind, "post" | "claim">;
