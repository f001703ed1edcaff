import { ToolError } from "@toolhaft/core";
import type { Client } from "undici";
import type { Connector, Opened } from "./connect.ts";
import { type Deadline, underSignal } from "./deadline.ts";
import type { Note } from "./types.ts";
import type { ParsedUrl } from "./url.ts";

const maxHeaderSize = 16 * 1024;
const idleMs = 4_000;

/** One connection, lent to one request. */
export interface Lease {
  client: Client;
  /** It has served a request before: its server may have closed it meanwhile. */
  reused: boolean;
  notes: readonly Note[];
  forward: Opened["forward"];
  /**
   * Gives it back: `clean` when its answer was read to the end. A second call that is not clean (what came turned out to be a
   * bomb) closes the connection if nobody has it yet.
   */
  release(clean: boolean): void;
}

export interface Pool {
  acquire(target: ParsedUrl, deadline: Deadline, fresh: boolean): Promise<Lease>;
  close(): Promise<void>;
}

interface Connection {
  client: Client;
  opened: Opened;
  alive: boolean;
  uses: number;
}

interface Place {
  idle: Connection[];
  busy: number;
  waiting: (() => void)[];
}

const gone = (): Error => Object.assign(new Error("the connection is gone"), { code: "UND_ERR_INFO" });

/**
 * Connections by origin. Each is opened by the connector, checked there, and handed to undici as a finished socket:
 * undici can send over it and can open none of its own.
 */
export function createPool(connector: Connector, maxPerOrigin: number): Pool {
  const places = new Map<string, Place>();
  const all = new Set<Connection>();
  let closed = false;
  let proven: Promise<void> | undefined;

  async function undici(): Promise<typeof import("undici")> {
    const library = await import("undici");
    proven ??= proveConnect(library);
    await proven;
    return library;
  }

  function placeOf(key: string): Place {
    let place = places.get(key);
    if (place === undefined) {
      place = { idle: [], busy: 0, waiting: [] };
      places.set(key, place);
    }
    return place;
  }

  function free(key: string, place: Place): void {
    place.busy -= 1;
    const next = place.waiting.shift();
    if (next !== undefined) next();
    else if (place.busy === 0 && place.idle.length === 0) places.delete(key);
  }

  async function turn(place: Place, deadline: Deadline): Promise<void> {
    if (place.busy < maxPerOrigin) {
      place.busy += 1;
      return;
    }
    deadline.enter("a free connection");
    let mine = (): void => undefined;
    const called = new Promise<void>((resolve) => {
      mine = resolve;
      place.waiting.push(resolve);
    });
    try {
      await underSignal(called, deadline.signal);
      place.busy += 1;
    } catch (error) {
      const index = place.waiting.indexOf(mine);
      if (index >= 0) place.waiting.splice(index, 1);
      else place.waiting.shift()?.();
      throw error;
    }
  }

  async function connect(target: ParsedUrl, key: string, place: Place, deadline: Deadline): Promise<Connection> {
    const { Client } = await undici();
    const opened = await connector.open(target, deadline);
    let given = false;
    const client = new Client(target.url.origin, {
      connect: (_options, callback) => {
        const again = given;
        given = true;
        // Never in the same turn: undici does not look at its queue again while it is asking for a connection.
        queueMicrotask(() => (again ? callback(gone(), null) : callback(null, opened.socket)));
      },
      pipelining: 1,
      maxHeaderSize,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: 60_000,
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
    const connection: Connection = { client, opened, alive: true, uses: 0 };
    all.add(connection);
    client.on("disconnect", () => {
      connection.alive = false;
      place.idle = place.idle.filter((other) => other !== connection);
      if (place.busy === 0 && place.idle.length === 0 && places.get(key) === place) places.delete(key);
      end(connection);
    });
    if (closed) end(connection);
    return connection;
  }

  function end(connection: Connection): void {
    all.delete(connection);
    connection.alive = false;
    connection.client.destroy().catch(() => undefined);
    connection.opened.socket.destroy();
  }

  async function acquire(target: ParsedUrl, deadline: Deadline, fresh: boolean): Promise<Lease> {
    if (closed) throw new ToolError("unavailable", "the HTTP client is closed");
    const key = target.url.origin;
    const place = placeOf(key);
    await turn(place, deadline);
    let connection: Connection;
    try {
      connection = (fresh ? undefined : place.idle.pop()) ?? (await connect(target, key, place, deadline));
    } catch (error) {
      free(key, place);
      throw error;
    }
    let returned = false;
    connection.uses += 1;
    const use = connection.uses;
    return {
      client: connection.client,
      reused: connection.uses > 1,
      notes: connection.opened.notes,
      forward: connection.opened.forward,
      release(clean) {
        if (returned) {
          if (!clean && connection.uses === use && place.idle.includes(connection)) {
            place.idle = place.idle.filter((other) => other !== connection);
            end(connection);
          }
          return;
        }
        returned = true;
        if (clean && connection.alive && !closed) place.idle.push(connection);
        else end(connection);
        free(key, place);
      },
    };
  }

  async function close(): Promise<void> {
    closed = true;
    const ending = [...all].map(async (connection) => {
      end(connection);
      await connection.client.destroy();
    });
    await Promise.allSettled(ending);
    places.clear();
  }

  return { acquire, close };
}

/**
 * Proves that the installed undici uses the `connect` it is given. One runtime and one major version ignore it, and would
 * connect to wherever a name leads.
 */
async function proveConnect({ Client }: typeof import("undici")): Promise<void> {
  const marker = new Error("asked");
  const probe = new Client("http://self-test.invalid", {
    connect: (_options, callback) => queueMicrotask(() => callback(marker, null)),
  });
  const answer = await probe.request({ path: "/", method: "GET" }).then(
    () => undefined,
    (error: unknown) => error,
  );
  await probe.destroy();
  if (answer !== marker) {
    throw new ToolError("unavailable", "this runtime's HTTP client does not let the connection be pinned", {
      hint: "run on Node.js 20.19 or later with undici 7",
    });
  }
}
