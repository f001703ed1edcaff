import { runTaskBackendContract } from "@toolhaft/tasks/contract";
import { it } from "vitest";
import { describeServer } from "./setting.ts";
import { openPostgres } from "./tasks-setting.ts";

describeServer("PostgreSQL keeps the contract of a task store", () => {
  runTaskBackendContract(openPostgres, it);
});
