import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { referencesOf } from "../asset-details.ts";
import { checkText, invalid } from "../checks.ts";
import { type ComposedSkill, composePermissions, conflictLine } from "../compose.ts";
import type { Desk } from "../desk.ts";
import { parseAsset } from "../details.ts";
import { type Asset, refOf } from "../model.ts";
import { fitLines, notesOf, plural } from "../present.ts";
import { listedShape, reading, refSchema } from "../schemas.ts";
import { textOf } from "../skill-text.ts";
import type { View } from "../view.ts";

const relation = z.enum(["equal", "covers", "covered", "overlaps", "disjoint"]);
const owned = z.object({ owner: z.string(), field: z.string(), rule: z.string() });
const output = z.object({
  ...listedShape,
  requested: z.array(z.string()),
  found: z.array(
    z.object({
      asset: refSchema,
      references: z.int(),
      grants: z.array(z.string()).optional(),
      removals: z.array(z.string()).optional(),
      chars: z.int(),
    }),
  ),
  missing: z.array(z.object({ name: z.string(), near: z.array(z.string()) })),
  references: z.array(
    z.object({ name: z.string(), path: z.string(), description: z.string(), skills: z.array(z.string()) }),
  ),
  nameClashes: z.array(
    z.object({
      name: z.string(),
      identical: z.boolean(),
      files: z.array(z.object({ path: z.string(), skills: z.array(z.string()) })),
    }),
  ),
  permissions: z
    .object({
      semantics: z.enum(["grant", "restrict"]),
      effective: z.array(
        z.object({ rule: z.string(), effect: z.enum(["granted", "removed"]), from: z.array(z.string()) }),
      ),
      conflicts: z.array(
        z.object({ kind: z.string(), severity: z.string(), rules: z.array(owned), relation, witness: z.string() }),
      ),
    })
    .optional(),
});
type ComposeData = z.output<typeof output>;

export function composeTool(desk: Desk) {
  return defineTool({
    name: "skill_compose",
    title: "Look at skills used together",
    description: "Shows what skills bring together: references, clashes of names and of tool permissions.",
    keywords: ["combine skills", "conflicts", "permissions"],
    inputSchema: z.object({
      skill_names: z.array(z.string()).min(1).max(50).describe("Names or ids."),
      check_conflicts: z.boolean().default(true).describe("Check permissions."),
      role_id: z.string().optional().describe("Role they serve."),
    }),
    outputSchema: output,
    annotations: reading,
    async execute(input, ctx) {
      const names = input.skill_names.map((name) => checkText("skill_names", name, 300, '["pdf-forms", "release"]'));
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined) throw invalid(`skill_names: "${twice}" is there twice`, "name each skill once");
      const view = await desk.view(ctx);
      const role = view.role(input.role_id);
      const skills: Asset[] = [];
      const missing: ComposeData["missing"] = [];
      for (const name of names) {
        const asset = seenFrom(view, name, role);
        if (!asset) missing.push({ name, near: view.near("skill", name) });
        else if (!skills.some(({ id }) => id === asset.id)) skills.push(asset);
      }
      if (skills.length === 0) {
        const near = [...new Set(missing.flatMap((one) => one.near))];
        throw new ToolError("not_found", `there is no skill ${names.join(", ")}`, {
          hint:
            near.length > 0
              ? `did you mean ${near.join(", ")}?`
              : `${ctx.toolName("asset_search")} with type skill finds what there is`,
          details: { missing },
        });
      }
      const texts = new Map<string, string>();
      const composed: ComposedSkill[] = [];
      for (const skill of skills) {
        const text = textOf(await view.read(skill));
        texts.set(skill.id, text);
        const parsed = parseAsset(skill, text, desk.options.toolClasses);
        if (parsed.type === "skill" && parsed.value) composed.push({ name: skill.name, spec: parsed.value });
      }
      const broken = skills.filter(({ name }) => !composed.some((one) => one.name === name));
      const references = referencesFor(skills, view);
      return {
        catalogVersion: view.version,
        notes: [...view.notes, ...broken.map(({ name }) => `${name} is broken: its permissions are not known`)],
        requested: names,
        found: skills.map((skill) => {
          const spec = composed.find(({ name }) => name === skill.name)?.spec;
          return {
            asset: refOf(skill),
            references: references.filter((one) => one.skills.includes(skill.name)).length,
            ...(spec?.allowedTools && { grants: spec.allowedTools.map(({ text }) => text) }),
            ...(spec?.disallowedTools && { removals: spec.disallowedTools.map(({ text }) => text) }),
            chars: [...(texts.get(skill.id) ?? "")].length,
          };
        }),
        missing,
        references: references.map(({ asset, skills: users }) => ({
          name: asset.name,
          path: asset.path,
          description: asset.description,
          skills: users,
        })),
        nameClashes: clashesOf(references),
        ...(input.check_conflicts && {
          permissions: composePermissions(composed, await roleOf(view, role, desk), desk.options.semantics ?? "grant"),
        }),
      };
    },
    render(data) {
      const lines = [
        `## ${plural(data.found.length, "skill")} together, ${plural(data.references.length, "reference")}`,
      ];
      for (const { asset, references, grants, removals, chars } of data.found) {
        const tools = [...(grants ?? []).map((rule) => `+${rule}`), ...(removals ?? []).map((rule) => `−${rule}`)].join(
          " ",
        );
        lines.push(
          `- ${asset.name}: ${chars} characters, ${plural(references, "reference")}${tools === "" ? "" : `, tools ${tools}`}`,
        );
      }
      for (const { name, near } of data.missing)
        lines.push(`- ${name}: not found${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`);
      if (data.references.length > 0)
        lines.push(
          "References:",
          ...data.references.map(
            ({ path, description, skills }) =>
              `- ${path} (${skills.join(", ")})${description === "" ? "" : `: ${description}`}`,
          ),
        );
      for (const { name, identical, files } of data.nameClashes)
        lines.push(
          `Same name ${name}, ${identical ? "same content" : "different content"}: ${files.map(({ path }) => path).join(", ")}`,
        );
      lines.push(...permissionLines(data));
      return fitLines([...lines, ...notesOf(data.notes)], 30_000);
    },
  });
}

function permissionLines({ permissions }: ComposeData): string[] {
  if (!permissions) return ["Permissions: not checked."];
  const { conflicts, effective } = permissions;
  const rules = effective.map(({ rule, effect, from }) => `- ${effect} ${rule} (${from.join(", ")})`);
  const lines =
    rules.length > 0
      ? [`Permissions (${permissions.semantics}):`, ...rules]
      : ["Permissions: none of them says anything."];
  if (conflicts.length === 0) return [...lines, "No conflicts."];
  return [
    ...lines,
    `${plural(conflicts.length, "conflict")}:`,
    ...conflicts.map((one) => conflictLine(one as Parameters<typeof conflictLine>[0])),
  ];
}

/** A skill as a role would find it: its own, its parents', then those of no role. */
function seenFrom(view: View, name: string, role: string | undefined): Asset | undefined {
  if (role === undefined) return view.lookUp("skill", name);
  for (
    let at: string | undefined = role;
    at !== undefined;
    at = at.includes("/") ? at.slice(0, at.lastIndexOf("/")) : undefined
  ) {
    const id = at;
    const found = view.assets.find(
      (asset) =>
        asset.type === "skill" &&
        asset.role === id &&
        asset.shadowedBy === undefined &&
        (asset.name === name || asset.id === name),
    );
    if (found) return found;
  }
  return (
    view.assets.find(
      (asset) => asset.type === "skill" && asset.role === null && asset.shadowedBy === undefined && asset.name === name,
    ) ?? view.lookUp("skill", name)
  );
}

interface UsedReference {
  asset: Asset;
  skills: string[];
}

/** One row for each real file. */
function referencesFor(skills: readonly Asset[], view: View): UsedReference[] {
  const rows = new Map<string, UsedReference>();
  for (const skill of skills) {
    for (const asset of referencesOf(skill, view.assets)) {
      const key = view.realPath(asset);
      const known = rows.get(key);
      if (known) known.skills.push(skill.name);
      else rows.set(key, { asset, skills: [skill.name] });
    }
  }
  return [...rows.values()].sort((a, b) => (a.asset.path < b.asset.path ? -1 : 1));
}

/** Different files under the same name below their skills. */
function clashesOf(references: readonly UsedReference[]): ComposeData["nameClashes"] {
  const groups = new Map<string, UsedReference[]>();
  for (const one of references) {
    const name = one.asset.name.slice(one.asset.name.indexOf("/") + 1);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups].flatMap(([name, group]) =>
    group.length < 2
      ? []
      : [
          {
            name,
            identical: new Set(group.map(({ asset }) => asset.version)).size === 1,
            files: group.map(({ asset, skills }) => ({ path: asset.path, skills })),
          },
        ],
  );
}

async function roleOf(view: View, role: string | undefined, desk: Desk) {
  if (role === undefined) return undefined;
  const asset = view.find("role", role);
  const parsed = parseAsset(asset, textOf(await view.read(asset)), desk.options.toolClasses);
  return parsed.type === "role" ? parsed.value : undefined;
}
