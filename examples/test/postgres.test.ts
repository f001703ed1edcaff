import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer, type TestServer } from "../../packages/postgres/test/server.ts";
import { share } from "../postgres/main.ts";

let server: TestServer | undefined;
beforeAll(async () => {
  server = await startServer(["fsync=off", "synchronous_commit=off"]);
});
afterAll(() => server?.dispose());

it("postgres: three workers share a board, and each task is done once", async ({ skip }) => {
  if (server === undefined) return skip("no server can run here");
  const done = Object.values(await share(server.url)).flat();
  expect(done).toHaveLength(12);
  expect(new Set(done).size).toBe(12);
});
