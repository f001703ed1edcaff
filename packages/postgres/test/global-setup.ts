import type { TestProject } from "vitest/node";
import { startServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Of a server with nothing in it; empty where none can run. */
    databaseUrl: string;
  }
}

/** One server for all files of a run: `DATABASE_URL`, or one that is started for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  // What is written here is thrown away: nothing waits for the disk.
  const server = given === undefined ? await startServer(["fsync=off", "synchronous_commit=off"]) : undefined;
  const url = given ?? server?.url ?? "";
  if (url === "") console.warn("postgres: no server can run here; its tests are skipped. Set DATABASE_URL.");
  project.provide("databaseUrl", url);
  return async () => server?.dispose();
}
