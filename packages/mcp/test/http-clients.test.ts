import { describe } from "vitest";
import { clientTable } from "./client-table.ts";

describe("over HTTP", () => clientTable("http"));
