import { expect, it } from "vitest";
import type { Connection } from "../src/driver.ts";
import { applicationId, checkIdentity } from "../src/identity.ts";

/** A file of which another process makes a database between two looks, or never. */
function fileMarked(by: "another process" | "nobody"): Connection {
  let looks = 0;
  const answer = (sql: string): unknown => {
    if (sql.includes("application_id")) return looks++ === 0 || by === "nobody" ? 0 : applicationId;
    if (sql.includes("sqlite_master")) return 2;
    return sql.includes("user_version") ? 1 : "notes";
  };
  return { prepare: (sql: string) => ({ get: () => ({ value: answer(sql) }) }) } as unknown as Connection;
}

it("takes a file for ours that another process made between two looks", () => {
  expect(checkIdentity(fileMarked("another process"), "notes.db", "notes", 1)).toBe("ours");
});

it("leaves one alone that holds tables and no mark of ours", () => {
  expect(() => checkIdentity(fileMarked("nobody"), "notes.db", "notes", 1)).toThrow(/belongs to another program/);
});
