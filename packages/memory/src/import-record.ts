import { ToolError } from "@toolhaft/core";
import { z } from "zod";
import { lineBreak } from "./checks.ts";
import { categories, relevances, scopes } from "./model.ts";
import type { ExportRecord } from "./store.ts";

interface Owner {
  workspace: string;
  agent: string;
  now: number;
  /** The same id for the same thing, however often it is imported. */
  id(prefix: string, key: string): string;
}

const text = z
  .string()
  .refine(
    (value) =>
      !value.includes("\0") && !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value),
    "holds NUL or half of a surrogate pair",
  );
const line = text
  .min(1)
  .max(400)
  .refine((value) => !lineBreak.test(value), "holds a line break");
const key = text
  .min(1)
  .refine((value) => Buffer.byteLength(value) <= 256, "has over 256 bytes")
  .refine((value) => !/\p{Cc}/u.test(value), "holds a control character");
const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`), "is not an id of this kind");
const time = z.number().int().min(0).max(8_640_000_000_000_000);
const provenance = z.object({
  agent: text,
  sessionId: text,
  messageId: text.optional(),
  callId: text,
  tool: text,
  imported: z.boolean().optional(),
});

const memory = z.object({
  type: z.literal("memory"),
  id: id("mem"),
  workspace: text,
  scope: z.enum(scopes),
  role: text.nullable(),
  thread: text,
  title: line,
  content: text.min(1).max(64 * 1024),
  category: z.enum(categories),
  relevance: z.enum(relevances),
  tags: z.array(line).max(20),
  about: z.array(line).max(8),
  confidence: z.number().min(0).max(1),
  kind: z.enum(["note", "fragment"]),
  version: z.number().int().min(1),
  createdAt: time,
  updatedAt: time,
  supersededBy: id("mem").nullable(),
  forgottenAt: time.nullable(),
  uses: z.number().int().min(0),
  lastUsedAt: time.nullable(),
  provenance,
  history: z.array(
    z.object({
      version: z.number().int().min(1),
      at: time,
      agent: text,
      sessionId: text,
      kind: z.enum(["write", "update", "supersede", "forget", "restore", "merge", "import"]),
      before: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
  vector: z.object({ model: text, values: z.array(z.number()).min(1).max(8_192) }).nullable(),
});

const kv = z.object({
  type: z.literal("kv"),
  workspace: text,
  agent: text,
  key,
  json: z.string().max(256 * 1024),
  version: z.number().int().min(1),
  updatedAt: time,
});

const graphFields = {
  workspace: text,
  agent: text,
  typeName: line,
  createdAt: time,
  updatedAt: time,
  removedAt: time.nullable(),
};
const entity = z.object({
  type: z.literal("entity"),
  id: id("ent"),
  name: line,
  attributes: z.record(z.string(), z.unknown()),
  ...graphFields,
});
const edge = z.object({
  type: z.literal("edge"),
  id: id("rel"),
  from: id("ent"),
  to: id("ent"),
  weight: z.number().min(0),
  ...graphFields,
});

/** Lines of the official MCP memory server. */
const foreignEntity = z.object({
  type: z.literal("entity"),
  name: line,
  entityType: line,
  observations: z.array(text).default([]),
});
const foreignRelation = z.object({ type: z.literal("relation"), from: line, to: line, relationType: line });
const head = z.object({ format: z.string(), version: z.number() });

/**
 * The records one line stands for.
 *
 * @throws ToolError when the whole file is of another format or newer; Error when only this record does not fit
 */
export function readRecord(value: unknown, owner: Owner): ExportRecord[] {
  const opening = head.safeParse(value);
  if (opening.success) {
    checkHead(opening.data);
    return [];
  }
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  if (type === "memory") return [ownMemory(parse(memory, value))];
  if (type === "kv") return [ownKey(parse(kv, value))];
  if (type === "edge") return [ownEdge(parse(edge, value))];
  if (type === "relation") return foreignEdges(parse(foreignRelation, value), owner);
  if (type !== "entity")
    throw new Error(
      `a record of type ${typeof type === "string" ? JSON.stringify(type.slice(0, 40)) : "none"} is not known`,
    );
  const isForeign = typeof value === "object" && value !== null && "entityType" in value;
  return isForeign ? foreignRecords(parse(foreignEntity, value), owner) : [ownEntity(parse(entity, value))];
}

function checkHead({ format, version }: z.infer<typeof head>): void {
  if (format !== "toolhaft-memory") {
    throw new ToolError("invalid_input", "this is not an export of a memory store", {
      hint: "give a file that `export` wrote",
    });
  }
  if (version > 1) {
    throw new ToolError("unsupported", `the export has format version ${version}, this one reads 1`, {
      hint: "update the package that imports it",
    });
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join(".") || "the record"}: ${issue?.message ?? "does not fit"}`);
}

function ownMemory({ type, provenance, ...value }: z.infer<typeof memory>): ExportRecord {
  if ((value.scope === "role") !== (value.role !== null)) throw new Error("role: set it for scope role, and only then");
  const { messageId, imported, ...rest } = provenance;
  return {
    type,
    value: {
      ...value,
      provenance: {
        ...rest,
        ...(messageId !== undefined && { messageId }),
        ...(imported !== undefined && { imported }),
      },
    },
  };
}

function ownKey({ type, ...value }: z.infer<typeof kv>): ExportRecord {
  JSON.parse(value.json);
  return { type, value };
}

function ownEntity({ type, typeName, ...value }: z.infer<typeof entity>): ExportRecord {
  return { type, value: { ...value, type: typeName } };
}

function ownEdge({ type, typeName, ...value }: z.infer<typeof edge>): ExportRecord {
  return { type, value: { ...value, type: typeName } };
}

/** An entity goes to the graph, each of its observations becomes a fragment about it. */
function foreignRecords(
  { name, entityType, observations }: z.infer<typeof foreignEntity>,
  owner: Owner,
): ExportRecord[] {
  const { workspace, agent, now } = owner;
  const times = { createdAt: now, updatedAt: now };
  const entity: ExportRecord = {
    type: "entity",
    value: {
      id: owner.id("ent", name),
      workspace,
      agent,
      name,
      type: entityType,
      attributes: {},
      ...times,
      removedAt: null,
    },
  };
  const fragments = observations.map(
    (content): ExportRecord => ({
      type: "memory",
      value: {
        id: owner.id("mem", `${name}\n${content}`),
        workspace,
        scope: "role",
        role: agent,
        // What was observed of one entity stands together.
        thread: owner.id("ent", name),
        title: [...content.replace(/\s+/g, " ").trim()].slice(0, 80).join("") || name,
        content,
        category: "note",
        relevance: "medium",
        tags: [],
        about: [name],
        confidence: 1,
        kind: "fragment",
        version: 1,
        ...times,
        supersededBy: null,
        forgottenAt: null,
        uses: 0,
        lastUsedAt: null,
        provenance: { agent, sessionId: "", callId: "", tool: "import", imported: true },
        history: [{ version: 1, at: now, agent, sessionId: "", kind: "import", before: null }],
        vector: null,
      },
    }),
  );
  return [entity, ...fragments];
}

function foreignEdges({ from, to, relationType }: z.infer<typeof foreignRelation>, owner: Owner): ExportRecord[] {
  const { workspace, agent, now } = owner;
  return [
    {
      type: "edge",
      value: {
        id: owner.id("rel", `${from}\n${to}\n${relationType}`),
        workspace,
        agent,
        from: owner.id("ent", from),
        to: owner.id("ent", to),
        type: relationType,
        weight: 1,
        createdAt: now,
        updatedAt: now,
        removedAt: null,
      },
    },
  ];
}
