import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { faults, openSpoilt } from "./consumer.ts";

describe("sqlite-1: a native module that cannot be loaded", () => {
  const hasOwn = process.getBuiltinModule?.("node:sqlite" as "node:fs") !== undefined;

  it.each(faults)("$cause", async ({ cause, damage, remedies }) => {
    const { answer, file } = await openSpoilt(damage);
    if (hasOwn) return void expect(answer).toEqual({ driver: "node:sqlite" });
    expect(answer).toMatchObject({ code: "unavailable", message: expect.stringContaining(cause) });
    for (const remedy of [...remedies, "Node 22.13 or later, which needs no native module"])
      expect(answer).toMatchObject({ hint: expect.stringContaining(remedy) });
    expect(existsSync(file)).toBe(false);
  });
});
