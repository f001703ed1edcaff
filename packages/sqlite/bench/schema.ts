import type { Migration } from "../src/index.ts";

export const schema: readonly Migration[] = [
  { version: 1, name: "rows", up: "CREATE TABLE rows(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT" },
];
