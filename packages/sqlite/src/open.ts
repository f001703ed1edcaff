import { rmSync } from "node:fs";
import { systemClock } from "@toolhaft/core";
import { corruptError, hasSavedCopy, moveAside } from "./corruption.ts";
import type { Database, OpenOptions } from "./database.ts";
import { type Connection, type Driver, loadDriver } from "./driver.ts";
import { closeOnExit } from "./exit.ts";
import { isBusy, isCorrupt, placeError } from "./faults.ts";
import { createHandle, type Handle } from "./handle.ts";
import { checkIsDue, noteChecked, quickCheck, writerMark } from "./health.ts";
import { checkIdentity, number, refuseByHeader, refuseOlder } from "./identity.ts";
import { newestVersion, upgrade } from "./migrate.ts";
import { preparePlace, readHeader, walBytes } from "./place.ts";
import { switchToWal } from "./wal.ts";

/**
 * Opens a SQLite file as every store of Toolhaft does: made when missing, brought to the newest schema once whoever
 * opens it first, checked after an unclean end, refused when it is somebody else's.
 *
 * @example
 * const db = await openDatabase({ path: ".toolhaft/notes.db", family: "notes", migrations: [
 *   { version: 1, name: "notes", up: "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT" },
 * ] });
 * await db.write(() => db.run("INSERT INTO notes(text) VALUES(?)", ["kept"]));
 *
 * @throws ToolError `unavailable` (no driver, damaged, full, read-only or odd place) · `unsupported` (newer version, no
 *   WAL) · `conflict` (another program's or family's file) · `timeout` (lock) · `internal` (a migration failed)
 * @throws TypeError when migration versions have gaps
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  newestVersion(options.migrations);
  const driver = await loadDriver(options.driver);
  return openWith(driver, options);
}

/**
 * A database that lives in memory, as long as its handle: for what may be lost, where no file can be written. It has the
 * same schema, statements and writes as a file; nobody else sees it.
 *
 * @throws ToolError `unavailable` (no driver) · `internal` (a migration failed)
 * @throws TypeError when migration versions have gaps
 */
export async function openMemoryDatabase(
  options: Pick<OpenOptions, "migrations" | "family" | "driver" | "clock">,
): Promise<Database> {
  const known = newestVersion(options.migrations);
  const driver = await loadDriver(options.driver);
  const connection = driver.open(inMemory, { readOnly: false });
  const whole: OpenOptions = { ...options, path: inMemory };
  configure(connection, "normal");
  const handle = wrap(driver, connection, whole, inMemory);
  try {
    await bringUp(handle, driver, connection, whole, inMemory);
    connection.exec("PRAGMA foreign_keys=ON");
    handle.setVersion(known);
    return handle.db;
  } catch (error) {
    handle.db.close();
    throw error;
  }
}

/** What SQLite calls a database without a file. */
const inMemory = ":memory:";

/** @internal Opening with a given driver; tests bring one that fails on purpose. */
export async function openWith(driver: Driver, options: OpenOptions): Promise<Database> {
  const clock = options.clock ?? systemClock;
  const place = preparePlace(options.path, options.readOnly === true);
  try {
    return await openPlace(driver, options, place);
  } catch (error) {
    if (!isCorrupt(error) && !(error instanceof Damage)) throw placeError(error, place.path) ?? error;
    const problem = error instanceof Error ? error.message : String(error);
    if (!options.onRebuild || options.readOnly) throw corruptError(place.path, problem, clock, error);
    const aside = moveAside(place.path, clock);
    options.onRebuild(`${place.path} was damaged (${problem}); it was moved to ${aside} and is built anew`);
    return openPlace(driver, options, preparePlace(options.path, false));
  }
}

/** A fault that a check found, before SQLite itself met it. */
class Damage extends Error {}

async function openPlace(
  driver: Driver,
  options: OpenOptions,
  place: { path: string; created: boolean },
): Promise<Database> {
  const { path } = place;
  const { readOnly = false, family } = options;
  const known = newestVersion(options.migrations);
  const header = readHeader(path);
  if (!header.empty) {
    if (!header.isSqlite) throw new Damage("file is not a database");
    refuseByHeader(path, header, known);
    if (walBytes(path) > 0) lookFirst(driver, path, family, known);
  }
  const connection = driver.open(path, { readOnly });
  let handle: Handle | undefined;
  try {
    connection.exec(`PRAGMA busy_timeout=${options.busyTimeoutMs ?? 5_000}`);
    const state = checkIdentity(connection, path, family, known);
    if (!readOnly) await switchToWal(connection, path, options.busyTimeoutMs ?? 5_000);
    configure(connection, options.durability ?? "normal");
    handle = wrap(driver, connection, options, path);
    const version = number(connection, "PRAGMA user_version");
    if (readOnly) refuseOlder(path, version, known);
    else if (state === "new" || version < known) await bringUp(handle, driver, connection, options, path);
    handle.setVersion(known);
    await checkHealth(handle.db, connection, options, path);
    return handle.db;
  } catch (error) {
    if (handle) handle.db.close();
    else connection.close();
    if (place.created) removeIfEmpty(path);
    throw error;
  }
}

/** Only readers leave a file with an open log byte-equal: a writer moves the log into the file when it closes. */
function lookFirst(driver: Driver, path: string, family: string, known: number): void {
  let connection: Connection | undefined;
  try {
    connection = driver.open(path, { readOnly: true });
    checkIdentity(connection, path, family, known);
  } catch (error) {
    // The owner is just closing it: the real opening waits for that.
    if (!isBusy(error)) throw error;
  } finally {
    connection?.close();
  }
}

function configure(connection: Connection, durability: "normal" | "full"): void {
  connection.exec(`PRAGMA synchronous=${durability === "full" ? "FULL" : "NORMAL"}`);
  connection.exec("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=67108864");
}

function wrap(driver: Driver, connection: Connection, options: OpenOptions, path: string): Handle {
  const mark = writerMark();
  let forget = (): void => undefined;
  const handle = createHandle({
    path,
    driver,
    connection,
    clock: options.clock ?? systemClock,
    busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
    onFirstWrite: (db) => mark.set(db),
    onClose: () => mark.clear(connection),
    onClosed: () => forget(),
  });
  forget = closeOnExit(() => handle.db.close());
  return handle;
}

async function bringUp(
  handle: Handle,
  driver: Driver,
  connection: Connection,
  options: OpenOptions,
  path: string,
): Promise<void> {
  const { family, migrations } = options;
  const now = (options.clock ?? systemClock).now();
  connection.exec("PRAGMA foreign_keys=OFF");
  await handle.hold(() => upgrade({ db: handle.db, connection, driver, path, family, migrations, now }));
}

async function checkHealth(db: Database, connection: Connection, options: OpenOptions, path: string): Promise<void> {
  connection.exec("PRAGMA foreign_keys=ON");
  const now = (options.clock ?? systemClock).now();
  if (!checkIsDue(db, now) && !hasSavedCopy(path)) return;
  const problem = quickCheck(connection);
  if (problem !== undefined) throw new Damage(problem);
  if (!options.readOnly) await db.write(() => noteChecked(db, now));
}

function removeIfEmpty(path: string): void {
  if (readHeader(path).empty) for (const part of ["", "-wal", "-shm"]) rmSync(path + part, { force: true });
}
