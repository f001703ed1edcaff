import { createId, createNonce, type Family, nearest, type ToolContext, ToolError } from "@toolhaft/core";
import { foldText } from "@toolhaft/text";
import { breadthFirst } from "./bfs.ts";
import { checkId, checkLine, checkWellFormed, invalid, screenJson, withoutSecrets } from "./checks.ts";
import { fileOptions } from "./memory.ts";
import type { Warning } from "./model.ts";
import { callerOf, nowOf, type PlaceOptions, settingsOf } from "./options.ts";
import { createShelf, type Shelf } from "./shelf.ts";
import type { Caller, Direction, Edge, Entity, GraphStore } from "./store.ts";
import { addEntityTool } from "./tools/knowledge-add-entity.ts";
import { addRelationTool } from "./tools/knowledge-add-relation.ts";
import { queryTool } from "./tools/knowledge-query.ts";
import { removeTool } from "./tools/knowledge-remove.ts";

export interface KnowledgeOptions extends PlaceOptions {
  /** @default SQLite in the state folder of the call */
  store?: GraphStore;
}

export interface QueryData {
  fence: string;
  start: Entity;
  nodes: (Entity & { depth: number; via: string | null })[];
  edges: Edge[];
  truncated: boolean;
  depthReached: number;
}

/** What the tools of the graph do, without schemas and texts. */
export interface Knowledge {
  addEntity(
    input: { name: string; type: string; attributes?: Record<string, unknown> | undefined },
    ctx: ToolContext,
  ): Promise<{
    entity: Entity;
    created: boolean;
    changed: string[];
    sameName: { id: string; type: string }[];
    warnings: Warning[];
  }>;
  addRelation(
    input: { from: string; to: string; type: string; weight: number; create_missing: boolean },
    ctx: ToolContext,
  ): Promise<{ edge: Edge; from: Entity; to: Entity; created: boolean; createdEntities: string[] }>;
  query(
    input: {
      start: string;
      depth: number;
      relation_filter?: readonly string[] | undefined;
      direction: Direction;
      limit: number;
    },
    ctx: ToolContext,
  ): Promise<QueryData>;
  remove(input: { id: string; restore: boolean }, ctx: ToolContext): Promise<{ removed: string[]; restored: string[] }>;
}

/** Names among which the nearest to an unknown one are looked for. */
const nearPool = 5_000;
/** Type of an entity that was made because an edge named it. */
const unknownType = "unknown";
/** Edges read at one level; what lies beyond belongs to a hub that no limit could show. */
const levelEdges = 20_000;

/** A graph of entities, private to workspace and role. */
export function createKnowledge(options: KnowledgeOptions = {}): Family {
  const shelf = createShelf(options, async (path) => {
    const { sqliteGraphStore } = await import("./stores/sqlite/graph-store.ts");
    return sqliteGraphStore(fileOptions(options, path));
  });
  const graph = createGraph(options, shelf);
  const close = async () => shelf[Symbol.asyncDispose]();
  return {
    name: "knowledge",
    tools: [addEntityTool(graph), addRelationTool(graph), queryTool(graph), removeTool(graph)],
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createGraph(options: KnowledgeOptions, shelf: Shelf<GraphStore>): Knowledge {
  const { limits, secrets } = settingsOf(options);
  const nonce = options.random ?? createNonce;

  return {
    async addEntity(input, ctx) {
      const caller = callerOf(ctx, options);
      const name = checkLine("name", input.name, limits.entityName);
      const type = checkLine("type", input.type, limits.entityType);
      const { json, warnings } = screenJson("attributes", attributesJson(input.attributes ?? {}), secrets);
      const attributes = JSON.parse(json) as Record<string, unknown>;
      return shelf.use(ctx, async (store) => {
        const at = nowOf(ctx, options);
        const draft = { id: `ent_${createId(at)}`, name, type, attributes, at, check: checkAttributes };
        const { entity, created, changed, sameName } = await store.upsertEntity(caller, draft, ctx.signal);
        return {
          entity: withoutSecrets(entity),
          created,
          changed: [...changed],
          sameName: [...sameName],
          warnings,
        };
      });
    },

    async addRelation(input, ctx) {
      const caller = callerOf(ctx, options);
      const type = checkLine("type", input.type, limits.entityType);
      for (const end of ["from", "to"] as const) checkLine(end, input[end], limits.entityName);
      return shelf.use(ctx, async (store) => {
        const createdEntities: string[] = [];
        const from = await endpoint(store, caller, "from", input.from, input.create_missing, createdEntities, ctx);
        const to = await endpoint(store, caller, "to", input.to, input.create_missing, createdEntities, ctx);
        const at = nowOf(ctx, options);
        const draft = { id: `rel_${createId(at)}`, from: from.id, to: to.id, type, weight: input.weight, at };
        const outcome = await store.upsertEdge(caller, draft, ctx.signal);
        if (outcome.kind === "missing")
          throw new ToolError("not_found", `${outcome.id} was removed meanwhile`, { hint: "look at the graph again" });
        return {
          edge: outcome.edge,
          from: withoutSecrets(from),
          to: withoutSecrets(to),
          created: outcome.created,
          createdEntities,
        };
      });
    },

    async query(input, ctx) {
      const caller = callerOf(ctx, options);
      checkLine("start", input.start, limits.entityName);
      const types =
        input.relation_filter && input.relation_filter.length > 0 ? input.relation_filter.map(foldText) : null;
      return shelf.use(ctx, async (store) => {
        const start = await one(store, caller, "start", input.start, ctx, false);
        const entities = new Map([[start.id, start]]);
        const levelOptions = { direction: input.direction, types, limit: levelEdges };
        const found = await breadthFirst(
          start.id,
          {
            depth: input.depth,
            limit: input.limit,
            direction: input.direction,
            name: (id) => entities.get(id)?.name ?? "",
          },
          (frontier) => store.level(caller, frontier, levelOptions, ctx.signal),
          async (ids) => {
            for (const entity of await store.entities(caller, ids, ctx.signal)) entities.set(entity.id, entity);
          },
        );
        const nodes = found.nodes.flatMap(({ id, depth, via }) => {
          const entity = entities.get(id);
          return entity ? [{ ...entity, depth, via }] : [];
        });
        const edges =
          input.depth === 0
            ? []
            : await store.between(
                caller,
                nodes.map(({ id }) => id),
                levelOptions,
                ctx.signal,
              );
        return {
          fence: nonce(),
          start,
          nodes,
          edges: [...edges],
          truncated: found.truncated,
          depthReached: found.depthReached,
        };
      });
    },

    async remove({ id, restore }, ctx) {
      const caller = callerOf(ctx, options);
      checkId("id", id, "graph");
      return shelf.use(ctx, async (store) => {
        const ids = await store.setRemoved(caller, id, !restore, nowOf(ctx, options), ctx.signal);
        if (!ids)
          throw new ToolError("not_found", "there is no such entity or edge", {
            hint: "take the id from knowledge_query",
          });
        return { removed: restore ? [] : [...ids], restored: restore ? [...ids] : [] };
      });
    },
  };

  async function endpoint(
    store: GraphStore,
    caller: Caller,
    field: string,
    given: string,
    createMissing: boolean,
    createdEntities: string[],
    ctx: ToolContext,
  ): Promise<Entity> {
    const found = await store.find(caller, given, ctx.signal);
    if (found.length > 0 || !createMissing || /^ent_/.test(given)) return one(store, caller, field, given, ctx, true);
    const at = nowOf(ctx, options);
    const draft = {
      id: `ent_${createId(at)}`,
      name: given.trim(),
      type: unknownType,
      attributes: {},
      at,
      check: checkAttributes,
    };
    const { entity } = await store.upsertEntity(caller, draft, ctx.signal);
    createdEntities.push(entity.id);
    return entity;
  }

  async function one(
    store: GraphStore,
    caller: Caller,
    field: string,
    given: string,
    ctx: ToolContext,
    isEnd: boolean,
  ): Promise<Entity> {
    const found = await store.find(caller, given, ctx.signal);
    const [first] = found;
    if (first && found.length === 1) return first;
    if (first) {
      const list = found.map(({ id, type }) => `${id} (${type})`).join(", ");
      throw new ToolError("conflict", `${field} names ${found.length} entities of different types: ${list}`, {
        hint: "give the id",
        retryable: false,
      });
    }
    const near = nearest(given, await store.names(caller, nearPool, ctx.signal));
    const hints = [
      ...(near.length > 0 ? [`near names: ${near.map((name) => JSON.stringify(name)).join(", ")}`] : []),
      isEnd
        ? `add it with ${ctx.toolName("knowledge_add_entity")}, or set create_missing`
        : `add it with ${ctx.toolName("knowledge_add_entity")}`,
    ];
    throw new ToolError("not_found", `${field}: there is no such entity`, { hint: hints.join("; ") });
  }

  function checkAttributes(attributes: Readonly<Record<string, unknown>>): void {
    const keys = Object.keys(attributes).length;
    if (keys > limits.attributes) throw invalid(`attributes has ${keys} keys`, `at most ${limits.attributes} are kept`);
    const bytes = Buffer.byteLength(JSON.stringify(attributes));
    if (bytes > limits.attributeBytes)
      throw invalid(`attributes has ${bytes} bytes of JSON`, `at most ${limits.attributeBytes} are kept`);
  }
}

const deepest = 32;

function attributesJson(attributes: Record<string, unknown>): string {
  checkDepth(attributes, 0);
  const json = JSON.stringify(attributes);
  checkWellFormed("attributes", json);
  return json;
}

function checkDepth(value: unknown, depth: number): void {
  if (typeof value === "number" && !Number.isFinite(value))
    throw invalid("attributes holds a number that is not finite", "give plain JSON");
  if (typeof value !== "object" || value === null) return;
  if (depth >= deepest) throw invalid(`attributes is nested over ${deepest} levels`, "make it flatter");
  for (const inner of Object.values(value)) checkDepth(inner, depth + 1);
}
