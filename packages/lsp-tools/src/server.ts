import type { ChildHandle } from "@toolhaft/process";
import type { ServerCapabilities } from "vscode-languageserver-protocol";
import type { Encoding, Json, ServerDefinition, Timeouts } from "./definition.ts";
import type { Documents } from "./documents.ts";
import type { Loss } from "./loss.ts";
import type { SourceText } from "./positions.ts";
import type { ProgressTracker } from "./progress.ts";
import type { Published } from "./published.ts";
import type { Readiness } from "./readiness.ts";
import type { RegisteredDocument, Registrations } from "./registrations.ts";
import type { RequestOptions } from "./requests.ts";
import type { ApplyEdit } from "./server-edits.ts";

/** One life of a server: from its start to the end of its process. */
export interface ServerLife {
  readonly definition: ServerDefinition;
  readonly id: string;
  readonly root: string;
  readonly program: string;
  readonly version: string | undefined;
  /** Plugins it was told to load. */
  readonly plugins: readonly string[];
  readonly child: ChildHandle;
  readonly startedAt: number;
  readonly capabilities: ServerCapabilities;
  readonly encoding: Encoding;
  readonly timeouts: Timeouts;
  readonly registrations: Registrations;
  readonly progress: ProgressTracker;
  readonly readiness: Readiness;
  readonly documents: Documents;
  readonly published: Published;
  readonly folders: string[];
  /** Results of pull diagnostics by document and identifier; dropped on refresh. */
  readonly pulled: Map<string, { resultId: string | undefined; items: unknown[] }>;
  /** Serialises what must not interleave: reading the disk and telling the server. */
  readonly serially: <T>(work: () => Promise<T>) => Promise<T>;
  readonly lost: Promise<Loss>;
  readonly loss: Loss | undefined;
  request<R>(method: string, params: unknown, options?: RequestOptions): Promise<R>;
  notify(method: string, params: unknown): void;
  supports(method: string, provider: keyof ServerCapabilities, document?: RegisteredDocument): boolean;
  /** Resolves when registrations that follow the start have most likely all come. */
  settled(): Promise<void>;
  /** The same for servers that register once a document is open. */
  registeredAfterOpen(): Promise<void>;
  /** Edits that the server sends are applied by this function while a command of ours runs. */
  applyWith<T>(apply: ApplyEdit, work: () => Promise<T>): Promise<T>;
  addFolder(root: string): void;
  /** Texts for people since the last call. */
  takeMessages(): string[];
  /** Any answer within the bound means alive. */
  isAlive(boundMs: number): Promise<boolean>;
  stop(): Promise<void>;
}

export interface LifeOptions {
  definition: ServerDefinition;
  root: string;
  program: string;
  child: ChildHandle;
  initializationOptions: Json | undefined;
  settings: { [section: string]: Json };
  timeouts: Timeouts;
  maxOpenDocuments: number;
  documentInUse(path: string): boolean;
  textOf(uri: string): Promise<SourceText | undefined>;
  bridge(life: ServerLife, method: string, params: unknown): Promise<unknown> | undefined;
  bridgeNotification(life: ServerLife, method: string, params: unknown): void;
  log(event: { type: string; server: string; detail?: string }): void;
}
