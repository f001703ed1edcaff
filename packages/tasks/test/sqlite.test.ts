import { describe, it } from "vitest";
import { runTaskBackendContract } from "../src/contract.ts";
import { openSqlite } from "./setting.ts";

describe("SQLite keeps the contract of a task store", () => {
  runTaskBackendContract(openSqlite, it);
});
