import { basename, join } from "node:path";
import { type Finding, parseSkill, scanText } from "@toolhaft/asset-format";
import { type FileChange, type ToolContext, ToolError } from "@toolhaft/core";
import { compareLines, parseText, unifiedDiff } from "@toolhaft/workspace";
import type { Desk } from "../desk.ts";
import { shownPath } from "../paths.ts";
import { notTextReason } from "../stores/directory/read-bytes.ts";
import type { Writers } from "../writers.ts";
import { changesBetween, commitTree } from "./commit-tree.ts";
import type { Histories, Shelf } from "./histories.ts";
import type { NewVersion, StoredVersion } from "./skill-store.ts";
import { checkTree, readTree, sha256, type Tree, treeHash } from "./tree.ts";

export interface MatchTold {
  strategy: string;
  similarity: number;
  places: { startLine: number; endLine: number }[];
}

/** What a change makes of the files as they are. */
export interface Planned {
  tree: Tree;
  /** The version whose content it has, for a rollback. */
  origin?: number;
  restored?: number;
  match?: MatchTold;
}

export interface ChangeRequest {
  /** Real folder of the skill. */
  folder: string;
  name: string;
  op: string;
  changelog: string;
  dryRun: boolean;
  expectedVersion?: number | undefined;
  permission: "skill.write" | "skill.delete";
  plan(current: Tree, history: readonly StoredVersion[], treeOf: (version: number) => Tree): Planned;
}

export interface ChangeOutcome {
  version: number;
  previous: number | null;
  planned: Planned;
  files: { path: string; bytes: number; sha256: string | null }[];
  findings: readonly Finding[];
  diff: string;
  fileChanges: readonly FileChange[];
}

export interface Changer {
  run(ctx: ToolContext, request: ChangeRequest): Promise<ChangeOutcome>;
  freeze(): void;
}

export function createChanger(desk: Desk, writers: Writers, histories: Histories): Changer {
  let frozen = false;
  const history = typeof desk.options.evolve === "object" ? desk.options.evolve.history : undefined;
  const limits = { versions: history?.versions ?? 100, bytes: history?.bytes ?? 50 * 1024 * 1024 };

  return {
    freeze() {
      frozen = true;
    },
    async run(ctx, request) {
      if (frozen)
        throw new ToolError("denied", "changing skills is frozen here", { hint: "the host froze it; ask a person" });
      const shelf = await histories.open(ctx, request.folder);
      const lease = await shelf.store.lease(shelf.key, ctx.signal);
      try {
        return await change(ctx, request, shelf);
      } finally {
        await lease.release();
      }
    },
  };

  async function change(ctx: ToolContext, request: ChangeRequest, shelf: Shelf): Promise<ChangeOutcome> {
    const { store, key } = shelf;
    await settle(ctx, request, shelf);
    const { tree: current, odd } = readTree(request.folder);
    if (current.size === 0 && request.op !== "create" && request.op !== "rollback")
      throw new ToolError("not_found", `there is no skill ${request.name}: it was deleted meanwhile`, {
        hint: "rollback brings it back",
      });
    const known = store.versions(key);
    const head = known.at(-1);
    const now = ctx.clock.now();
    const isKnown = head ? head.treeSha256 === treeHash(current) : current.size === 0;
    const base = { agent: ctx.agent, sessionId: ctx.sessionId, callId: ctx.callId, at: Math.floor(now) };
    let next = (head?.version ?? 0) + 1;
    const added: NewVersion[] = [];
    if (!isKnown) {
      added.push({
        ...base,
        version: next,
        parent: head?.version ?? null,
        origin: next,
        op: "external",
        changelog: "found changed by hand",
        tree: current,
      });
      next++;
    }
    const previous = added[0]?.version ?? head?.version ?? null;
    if (request.expectedVersion !== undefined && request.expectedVersion !== previous) {
      throw new ToolError(
        "conflict",
        `expected_version is ${request.expectedVersion}, and ${request.name} is at version ${previous ?? "none"}${isKnown ? "" : " (it was changed by hand)"}`,
        {
          hint: "read it again, then repeat the call with the version it has now",
          details: { expected: request.expectedVersion, actual: previous },
        },
      );
    }
    const history: StoredVersion[] = [
      ...known,
      ...added.map(({ tree, ...one }) => ({ ...one, treeSha256: treeHash(tree), pending: true })),
    ];
    const planned = request.plan(current, history, (version) =>
      version === added[0]?.version ? current : store.tree(key, version),
    );
    checkTree(planned.tree);
    if (odd.length > 0 && planned.tree.size === 0)
      throw new ToolError(
        "unsupported",
        `${request.name} holds ${odd.join(", ")}, which is no plain file and could not be brought back`,
        { hint: "remove it first" },
      );
    const changes = changesBetween(current, planned.tree);
    if (changes.length === 0)
      throw new ToolError("invalid_input", `nothing to change in ${request.name}: it is already as wanted`, {
        hint: "read it to see what it holds",
      });
    const findings = findingsOf(request, changes);
    const diff = changes.map((one) => diffOf(one, request.folder, desk.directoryOf(ctx))).join("");
    await ctx.ask({
      permission: request.permission,
      resources: [request.folder],
      reason: `${request.op} the skill ${request.name}: ${changes.map(({ path }) => path).join(", ")}`,
      details: { diff, findings, rules: rulesOf(current, planned.tree, request.folder) },
      fresh: true,
    });
    const files = changes.map(({ path, after }) => ({
      path,
      bytes: after?.length ?? 0,
      sha256: after ? sha256(after) : null,
    }));
    const outcome = { version: next, previous, planned, files, findings, diff };
    if (request.dryRun) return { ...outcome, fileChanges: [] };
    added.push({
      ...base,
      version: next,
      parent: previous,
      origin: planned.origin ?? next,
      op: request.op,
      changelog: request.changelog,
      tree: planned.tree,
      ...(planned.match && { strategy: planned.match.strategy }),
    });
    await store.begin(key, added);
    let fileChanges: readonly FileChange[];
    try {
      fileChanges = await commitTree(
        writers.workspace(ctx),
        request.folder,
        current,
        planned.tree,
        ctx,
        desk.directoryOf(ctx),
      );
    } catch (error) {
      await store.drop(key);
      throw error;
    }
    await store.finish(key);
    await store.prune(key, limits);
    return { ...outcome, fileChanges };
  }

  /** What a process left that died between its two notes: the files tell whether its change took place. */
  async function settle(ctx: ToolContext, request: ChangeRequest, { store, key }: Shelf): Promise<void> {
    const pending = store.versions(key).filter((one) => one.pending);
    const last = pending.at(-1);
    if (!last) return;
    await writers.workspace(ctx).recover();
    if (treeHash(readTree(request.folder).tree) === last.treeSha256) {
      await store.finish(key);
      return;
    }
    const wanted = store.tree(key, last.version);
    // The files were written and their modes not yet.
    const { tree } = readTree(request.folder);
    const onlyModes =
      tree.size === wanted.size && [...tree].every(([path, { bytes }]) => wanted.get(path)?.bytes.equals(bytes));
    if (!onlyModes) {
      await store.drop(key);
      return;
    }
    await commitTree(writers.workspace(ctx), request.folder, tree, wanted, ctx, desk.directoryOf(ctx));
    await store.finish(key);
  }

  function findingsOf(request: ChangeRequest, changes: ReturnType<typeof changesBetween>): Finding[] {
    const findings = changes.flatMap(({ path, after }) => {
      if (!after || notTextReason(after) !== undefined) return [];
      return scanText(after.toString("utf8"), desk.options.scan, join(request.folder, path)).map((finding) => ({
        ...finding,
        path,
      }));
    });
    const blocks = findings.filter(({ severity }) => severity === "block");
    if (blocks.length > 0 && desk.options.scan?.onBlock !== "warn") {
      const told = blocks.map(({ rule, path, line, excerpt }) => `${rule} in ${path} line ${line}: ${excerpt}`);
      throw new ToolError("denied", `the text gives orders or hides something: ${told.join("; ")}`, {
        hint: "take that out; a host can allow it in scan.allow",
        details: { by: "scan", findings: blocks },
      });
    }
    return findings.map(({ path: _, ...finding }) => finding);
  }
}

function rulesOf(before: Tree, after: Tree, folder: string): { before: unknown; after: unknown } | undefined {
  const read = (tree: Tree) => {
    const text = tree.get("SKILL.md")?.bytes.toString("utf8");
    const value = text === undefined ? undefined : parseSkill(text, basename(folder)).value;
    return {
      allowed: value?.allowedTools?.map((rule) => rule.text) ?? null,
      disallowed: value?.disallowedTools?.map((rule) => rule.text) ?? null,
    };
  };
  const [old, now] = [read(before), read(after)];
  return JSON.stringify(old) === JSON.stringify(now) ? undefined : { before: old, after: now };
}

function diffOf(
  { path, before, after }: ReturnType<typeof changesBetween>[number],
  folder: string,
  directory: string,
): string {
  const name = shownPath(join(folder, path), directory);
  const isText = [before, after].every((bytes) => !bytes || notTextReason(bytes) === undefined);
  if (!isText) return `Binary file ${name} ${before ? (after ? "changed" : "removed") : "added"}\n`;
  const [old, now] = [before ? parseText(before) : null, after ? parseText(after) : null];
  const empty = parseText(Buffer.alloc(0));
  const { changes } = compareLines(old ?? empty, now ?? empty);
  return unifiedDiff(
    old,
    now,
    changes,
    { before: old ? name : "/dev/null", after: now ? name : "/dev/null" },
    { maxBytes: 16_384 },
  ).text;
}
