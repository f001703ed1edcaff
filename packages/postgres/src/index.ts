export type { PostgresOptions } from "./database.ts";
