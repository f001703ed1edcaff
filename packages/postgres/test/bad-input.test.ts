import { EventEmitter } from "node:events";
import { type ErrorCode, isToolError } from "@toolhaft/core";
import type pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { postgresDatabase } from "../src/database.ts";
import { postgresMemoryStore } from "../src/memory.ts";
import { postgresTasks } from "../src/tasks.ts";
import { freePort } from "./server.ts";
import { asAdmin, databaseUrl, describeServer, newSchema } from "./setting.ts";

async function failureOf(work: Promise<unknown>): Promise<{ code: ErrorCode; text: string; retryable: boolean }> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isToolError(error)) throw new Error(`expected a clear error, got ${String(error)}`);
  return { code: error.code, text: `${error.message} ${error.hint ?? ""}`, retryable: error.retryable };
}

function first(connectionString: string, schema = newSchema()): Promise<unknown> {
  const backend = postgresTasks({ connectionString, schema });
  onTestFinished(() => backend.close());
  return backend.store.engines();
}

async function schemasNamed(schema: string): Promise<number> {
  return (await asAdmin(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)).length;
}

/** The server's address as another user. */
function as(user: string, password: string, database?: string): string {
  const url = new URL(databaseUrl);
  url.username = user;
  url.password = password;
  if (database !== undefined) url.pathname = `/${database}`;
  return url.href;
}

describe("options that cannot be", () => {
  it.each<[string, Parameters<typeof postgresTasks>[0], RegExp]>([
    ["nothing given", {}, /either connectionString or pool/],
    ["another kind of address", { connectionString: "mysql://h/d" }, /connectionString: write postgres:/],
    ["a schema with a quote", { connectionString: "postgres://h/d", schema: 'a"b' }, /schema/],
    ["no connections", { connectionString: "postgres://h/d", max: 0 }, /max/],
    ["half a millisecond", { connectionString: "postgres://h/d", statementTimeoutMs: 0.5 }, /statementTimeoutMs/],
    ["an unknown one", { connectionString: "postgres://h/d", table: "x" } as never, /unknown option table/],
  ])("%s", (_what, options, message) => {
    expect(() => postgresTasks(options)).toThrow(TypeError);
    expect(() => postgresTasks(options)).toThrow(message);
    expect(() => postgresMemoryStore(options)).toThrow(message);
  });

  it("nobody listens at the address: unavailable, and worth another try", async () => {
    const failure = await failureOf(first(`postgres://user:secret@127.0.0.1:${await freePort()}/db`));
    expect(failure).toMatchObject({ code: "unavailable", retryable: true });
    expect(failure.text).not.toContain("secret");
  });

  it("a server that is too old is refused, and nothing is said to it beyond the question", async () => {
    const asked: string[] = [];
    const client = {
      query: async (sql: string) => {
        asked.push(sql);
        return { rows: [{ version: 120_017, name: "12.17", replica: false, readonly: "off" }] };
      },
      release: () => undefined,
    };
    const fakePool = Object.assign(new EventEmitter(), { connect: async () => client }) as unknown as pg.Pool;
    const db = postgresDatabase({ pool: fakePool }, "tasks", []);
    expect(await failureOf(db.all("SELECT 1"))).toMatchObject({ code: "unsupported" });
    expect(asked.join(" ")).not.toMatch(/CREATE|INSERT/);
  });
});

describeServer("a server that does not do", () => {
  it("a wrong password", async () => {
    await asAdmin(
      "DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN END $$",
    );
    await asAdmin("DO $$ BEGIN CREATE DATABASE guarded; EXCEPTION WHEN OTHERS THEN END $$").catch(() => undefined);
    if ((await asAdmin("SELECT 1 FROM pg_database WHERE datname = 'guarded'")).length === 0)
      await asAdmin("CREATE DATABASE guarded");
    const failure = await failureOf(first(as("guarded", "wrong", "guarded")));
    expect(failure).toMatchObject({ code: "unavailable", retryable: false });
    expect(failure.text).toMatch(/password/);
    expect(failure.text).not.toContain("wrong");
  });

  it("a database that is not there", async () => {
    const failure = await failureOf(first(as("postgres", "", "nowhere")));
    expect(failure).toMatchObject({ code: "unavailable", text: expect.stringContaining("no such database") });
  });

  it("missing rights: denied, and no schema is left behind", async () => {
    const role = newSchema();
    await asAdmin(`CREATE ROLE ${role} LOGIN`);
    onTestFinished(async () => void (await asAdmin(`DROP ROLE ${role}`)));
    const schema = newSchema();
    const failure = await failureOf(first(as(role, ""), schema));
    expect(failure).toMatchObject({ code: "denied", text: expect.stringContaining("GRANT CREATE") });
    expect(await schemasNamed(schema)).toBe(0);
  });

  it("a schema that is newer than this code: unsupported, and nothing in it is changed", async () => {
    const schema = newSchema();
    await first(databaseUrl, schema);
    await asAdmin(`INSERT INTO "${schema}".migration(family, version) VALUES('tasks', 99)`);
    onTestFinished(async () => void (await asAdmin(`DROP SCHEMA "${schema}" CASCADE`)));
    const failure = await failureOf(first(databaseUrl, schema));
    expect(failure).toMatchObject({ code: "unsupported", text: expect.stringContaining("version 99") });
    expect(await asAdmin(`SELECT version FROM "${schema}".migration ORDER BY version`)).toHaveLength(2);
  });

  it("one that is read-only, as a replica is", async () => {
    const role = newSchema();
    await asAdmin(`CREATE ROLE ${role} LOGIN SUPERUSER; ALTER ROLE ${role} SET default_transaction_read_only = on`);
    onTestFinished(async () => void (await asAdmin(`DROP ROLE ${role}`)));
    const schema = newSchema();
    expect(await failureOf(first(as(role, ""), schema))).toMatchObject({
      code: "unsupported",
      text: expect.stringContaining("primary"),
    });
    expect(await schemasNamed(schema)).toBe(0);
  });

  it("TLS that the server does not speak", async () => {
    const failure = await failureOf(first(`${databaseUrl}?sslmode=require`));
    expect(failure).toMatchObject({ code: "unavailable", text: expect.stringContaining("TLS") });
  });

  it("a store that is closed says so", async () => {
    const backend = postgresTasks({ connectionString: databaseUrl, schema: newSchema() });
    await backend.close();
    await backend.close();
    expect(await failureOf(Promise.resolve().then(() => backend.store.engines()))).toMatchObject({
      code: "unavailable",
    });
  });
});
