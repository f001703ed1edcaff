import type { Family } from "@toolhaft/core";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createKnowledge, createKvMemory, createMemory, createSemanticMemory } from "../src/index.ts";

const object = z.object({
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.looseObject({})).default({}),
});
const categories = ["decision", "preference", "fact", "lesson", "note"];
const scope = { enum: ["workspace", "role", "both"], default: "both" };
const text = (maxLength?: number) => ({ type: "string", ...(maxLength && { maxLength }) });
const limit = (maximum: number, standard: number) => ({ type: "integer", minimum: 1, maximum, default: standard });
const flag = { type: "boolean", default: false };

/** What each tool takes: required parameters, and of every parameter what bounds it. */
const tables: readonly [Family, Record<string, { required: string[]; properties: Record<string, object> }>][] = [
  [
    createMemory(),
    {
      memory_write: {
        required: ["title", "content"],
        properties: {
          title: text(),
          content: text(),
          category: { enum: categories, default: "note" },
          scope: { enum: ["workspace", "role"], default: "role" },
          tags: { type: "array" },
          relevance: { enum: ["low", "medium", "high"], default: "medium" },
          about: { type: "array" },
          supersedes: { type: "string" },
        },
      },
      memory_recall: {
        required: ["query"],
        properties: {
          query: text(1_000),
          scope,
          category: { enum: categories },
          limit: limit(50, 10),
          tags: { type: "array" },
          about: { type: "array" },
          full: flag,
          cursor: { type: "string" },
        },
      },
      memory_list: {
        required: [],
        properties: {
          scope,
          category: { enum: categories },
          limit: limit(100, 20),
          sort: { enum: ["recent", "relevance", "accessed"], default: "recent" },
          state: { enum: ["live", "superseded", "forgotten"], default: "live" },
          tags: { type: "array" },
          cursor: { type: "string" },
        },
      },
      memory_get: {
        required: ["id"],
        properties: {
          id: { type: "string" },
          offset: { type: "integer", minimum: 0, default: 0 },
          max_chars: { type: "integer", minimum: 1, maximum: 30_000, default: 20_000 },
          include_history: flag,
        },
      },
      memory_update: {
        required: ["id"],
        properties: {
          id: { type: "string" },
          title: text(),
          content: text(),
          category: { enum: categories },
          tags: { type: "array" },
          relevance: { enum: ["low", "medium", "high"] },
          about: { type: "array" },
          expected_version: { type: "integer" },
        },
      },
      memory_forget: {
        required: ["id"],
        properties: { id: { type: "string" }, restore: flag, reason: { type: "string", maxLength: 200 } },
      },
    },
  ],
  [
    createKvMemory(),
    {
      memory_store: {
        required: ["key", "value"],
        properties: { key: { type: "string" }, value: {}, if_version: { type: "integer", minimum: 0 } },
      },
      memory_recall: { required: ["key"], properties: { key: { type: "string" } } },
      memory_list: {
        required: [],
        properties: {
          limit: limit(1_000, 100),
          offset: { type: "integer", minimum: 0, default: 0 },
          prefix: { type: "string" },
        },
      },
      memory_delete: {
        required: ["key"],
        properties: { key: { type: "string" }, if_version: { type: "integer", minimum: 0 } },
      },
    },
  ],
  [
    createSemanticMemory(),
    {
      memory_semantic_search: {
        required: ["query"],
        properties: {
          query: text(1_000),
          limit: limit(50, 10),
          min_confidence: { type: "number", minimum: 0, maximum: 1, default: 0 },
        },
      },
      memory_semantic_add: { required: ["content"], properties: { content: text(16_000) } },
      memory_semantic_forget: { required: ["memory_id"], properties: { memory_id: { type: "string" }, restore: flag } },
      memory_semantic_stats: { required: [], properties: {} },
    },
  ],
  [
    createKnowledge(),
    {
      knowledge_add_entity: {
        required: ["name", "type"],
        properties: { name: text(), type: text(), attributes: { type: "object" } },
      },
      knowledge_add_relation: {
        required: ["from", "to", "type"],
        properties: {
          from: text(),
          to: text(),
          type: text(),
          weight: { type: "number", minimum: 0, default: 1 },
          create_missing: flag,
        },
      },
      knowledge_query: {
        required: ["start"],
        properties: {
          start: text(),
          depth: { type: "integer", minimum: 0, maximum: 10, default: 2 },
          relation_filter: { type: "array" },
          direction: { enum: ["out", "in", "both"], default: "out" },
          limit: limit(1_000, 200),
        },
      },
      knowledge_remove: { required: ["id"], properties: { id: { type: "string" }, restore: flag } },
    },
  ],
];

describe.each(tables.map(([family, table]) => ({ name: family.name, family, table })))("$name", ({ family, table }) => {
  afterAll(() => family.close());

  it("has the tools of its table, and no other", () => {
    expect(family.tools.map(({ name }) => name).sort()).toEqual(Object.keys(table).sort());
  });

  it.each(Object.entries(table))("%s takes what its table says", (name, { required, properties }) => {
    const tool = family.tools.find((one) => one.name === name);
    const schema = object.parse(tool?.inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" }));
    expect([...schema.required].sort()).toEqual([...required].sort());
    expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(properties).sort());
    expect(schema.properties).toMatchObject(properties);
  });
});
