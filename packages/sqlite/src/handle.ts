import { type Clock, ToolError } from "@toolhaft/core";
import { saveBackup } from "./backup.ts";
import { corruptError } from "./corruption.ts";
import type { Database, Parameters, WriteOptions } from "./database.ts";
import type { Connection, Driver, Statement } from "./driver.ts";
import { busyError, isBusy, isCorrupt, placeError } from "./faults.ts";
import { cancelled, waitForLock } from "./lock.ts";
import { fileIdentity } from "./place.ts";
import { withinTick } from "./rows.ts";

const cachedStatements = 200;
/** Milliseconds SQLite itself may sleep for a lock; longer waits are asynchronous. */
const shortBusyMs = 5;
/** A read looks whether its file was deleted at most this often, in milliseconds. */
const identityCheckMs = 250;

export interface HandleOptions {
  path: string;
  driver: Driver;
  connection: Connection;
  clock: Clock;
  busyTimeoutMs: number;
  /** Runs inside the first write of this handle. */
  onFirstWrite?(db: Database): void;
  /** Before a handle that has written closes. */
  onClose?(): void;
  /** After the connection is closed. */
  onClosed?(): void;
}

export interface Handle {
  db: Database;
  setVersion(version: number): void;
  /** A write that may await, for opening only: nobody else has the handle yet. */
  hold<T>(work: () => Promise<T>): Promise<T>;
}

/** Wraps a connection: cached statements, named errors, writes that wait. */
export function createHandle(options: HandleOptions): Handle {
  const { path, driver, connection, clock } = options;
  const statements = new Map<string, Statement>();
  const identity = fileIdentity(path);
  let identityCheckedAt = performance.now();
  let closed: Error | undefined;
  let writing = false;
  let hasWritten = false;
  let savepoints = 0;
  let version = 0;
  connection.exec(`PRAGMA busy_timeout=${shortBusyMs}`);

  const db: Database = {
    path,
    driver: driver.name,
    get version() {
      return version;
    },
    run: (sql, parameters) => guarded(() => statement(sql).run(parameters)),
    get: <T>(sql: string, parameters?: Parameters) => guarded(() => statement(sql).get(parameters)) as T | undefined,
    all: <T>(sql: string, parameters?: Parameters) => guarded(() => statement(sql).all(parameters)) as T[],
    iterate: <T>(sql: string, parameters?: Parameters) =>
      // A statement of its own: a cached one cannot be used again while its rows are being read.
      withinTick(
        guarded(() => connection.prepare(sql).iterate(parameters)),
        translate,
      ) as IterableIterator<T>,
    write,
    savepoint,
    async backup(target) {
      checkOpen();
      await saveBackup(connection, target).catch((error) => {
        throw translate(error);
      });
    },
    close,
    async [Symbol.asyncDispose]() {
      close();
    },
  };
  return {
    db,
    setVersion(next) {
      version = next;
    },
    hold,
  };

  function statement(sql: string): Statement {
    let found = statements.get(sql);
    if (found) {
      statements.delete(sql);
    } else {
      found = connection.prepare(sql);
      const oldest = statements.size >= cachedStatements ? statements.keys().next().value : undefined;
      if (oldest !== undefined) statements.delete(oldest);
    }
    statements.set(sql, found);
    return found;
  }

  function guarded<T>(work: () => T): T {
    checkOpen();
    if (!writing) checkIdentityNowAndThen();
    try {
      return work();
    } catch (error) {
      if (!writing && isBusy(error)) return patiently(work);
      throw translate(error);
    }
  }

  /** A read meets a lock only while another process recovers or closes the file: that is short, so wait for it here. */
  function patiently<T>(work: () => T): T {
    const start = performance.now();
    connection.exec(`PRAGMA busy_timeout=${options.busyTimeoutMs}`);
    try {
      return work();
    } catch (error) {
      throw isBusy(error) ? busyError(path, performance.now() - start, error) : translate(error);
    } finally {
      if (!closed) connection.exec(`PRAGMA busy_timeout=${shortBusyMs}`);
    }
  }

  async function write<T>(work: () => T, { signal, timeoutMs = options.busyTimeoutMs }: WriteOptions = {}): Promise<T> {
    if (writing) throw new TypeError("write inside write: nest with savepoint");
    if (!begin(signal)) await waitForLock(() => begin(signal), { path, timeoutMs, signal });
    writing = true;
    try {
      if (!hasWritten) options.onFirstWrite?.(db);
      const result = work();
      if (isPromise(result)) {
        result.then(undefined, () => undefined);
        throw new TypeError("the work of a write runs in one tick: it must not be asynchronous");
      }
      commit();
      return result;
    } catch (error) {
      rollback();
      throw translate(error);
    } finally {
      writing = false;
    }
  }

  async function hold<T>(work: () => Promise<T>): Promise<T> {
    if (!begin(undefined)) {
      await waitForLock(() => begin(undefined), { path, timeoutMs: options.busyTimeoutMs, signal: undefined });
    }
    writing = true;
    try {
      const result = await work();
      commit();
      return result;
    } catch (error) {
      rollback();
      throw translate(error);
    } finally {
      writing = false;
    }
  }

  /** One try for the lock: false when another process has it. */
  function begin(signal: AbortSignal | undefined): boolean {
    if (signal?.aborted) throw cancelled();
    checkOpen();
    checkFileStillThere();
    try {
      statement("BEGIN IMMEDIATE").run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw translate(error);
    }
  }

  function commit(): void {
    statement("COMMIT").run();
    hasWritten = true;
  }

  function rollback(): void {
    if (closed) return;
    try {
      statement("ROLLBACK").run();
    } catch (error) {
      // SQLite has already rolled back after a full disk or an I/O error.
      if (!/no transaction is active/i.test(String(error))) throw translate(error);
    }
  }

  function savepoint<T>(work: () => T): T {
    if (!writing) throw new TypeError("savepoint outside write");
    const name = `s${++savepoints}`;
    statement(`SAVEPOINT ${name}`).run();
    try {
      const result = work();
      if (isPromise(result))
        throw new TypeError("the work of a savepoint runs in one tick: it must not be asynchronous");
      statement(`RELEASE ${name}`).run();
      return result;
    } catch (error) {
      if (!closed) {
        statement(`ROLLBACK TO ${name}`).run();
        statement(`RELEASE ${name}`).run();
      }
      throw translate(error);
    } finally {
      savepoints--;
    }
  }

  function translate(error: unknown): unknown {
    if (!isCorrupt(error)) return placeError(error, path) ?? (isBusy(error) ? busyError(path, 0, error) : error);
    close();
    const problem = error instanceof Error ? error.message : String(error);
    closed = corruptError(path, problem, clock, error);
    return closed;
  }

  function checkOpen(): void {
    if (closed) throw closed;
  }

  function checkIdentityNowAndThen(): void {
    const now = performance.now();
    if (now - identityCheckedAt < identityCheckMs) return;
    identityCheckedAt = now;
    checkFileStillThere();
  }

  function checkFileStillThere(): void {
    if (fileIdentity(path) === identity) return;
    close();
    closed = new ToolError("unavailable", `${path} was deleted or replaced while it was open`, {
      hint: "put the file back, or repeat the call to start with what is there now",
      details: { path },
    });
    throw closed;
  }

  function close(): void {
    if (closed) return;
    if (hasWritten && !writing && fileIdentity(path) === identity) options.onClose?.();
    closed = new ToolError("unavailable", `${path} is closed`, { hint: "open it again", details: { path } });
    statements.clear();
    connection.close();
    options.onClosed?.();
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
