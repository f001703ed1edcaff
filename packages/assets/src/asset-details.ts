import { dirname } from "node:path";
import { z } from "zod";
import { conditionText, type ParsedAsset } from "./details.ts";
import type { Asset } from "./model.ts";
import { relationsOf } from "./relations.ts";
import type { View } from "./view.ts";

const names = z.array(z.string());
const skill = z.object({
  type: z.literal("skill"),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  files: names,
  references: names,
  grants: names.optional(),
  removals: names.optional(),
  host: z.record(z.string(), z.unknown()),
});
const condition = z.string().optional();
const functionDetails = z.object({
  type: z.literal("function"),
  label: z.string().optional(),
  priority: z.number(),
  params: z.array(
    z.object({
      name: z.string(),
      description: z.string().optional(),
      default: z.string().optional(),
      required: z.boolean(),
    }),
  ),
  requires: names,
  produces: names,
  consumes: names,
  gate: condition,
  continueUntil: condition,
  continueMax: z.number(),
  requiresEvidence: names,
  transitions: z.array(z.object({ when: z.string(), activate: names, deactivate: names })),
  observe: z.array(
    z.object({
      on: z.string(),
      tool: z.string().optional(),
      when: condition,
      setEvidence: z.string().optional(),
      capture: z.string().optional(),
    }),
  ),
  stateSchemaVersion: z.number(),
  hasHandlers: z.boolean(),
  usedBy: names,
});
const reference = z.object({ type: z.literal("reference"), usedBy: names });
const role = z.object({
  type: z.literal("role"),
  displayName: z.string(),
  promptFile: z.string().optional(),
  skills: names,
  functions: names,
  disabledFunctions: names,
  autoActivate: names,
  references: names,
  subagents: names,
  missing: names,
  allow: names,
  deny: names,
  ask: names,
  tools: z.record(z.string(), z.boolean()),
});
const broken = z.object({ type: z.literal("broken") });

export const detailsSchema = z.discriminatedUnion("type", [skill, functionDetails, reference, role, broken]);
export type Details = z.output<typeof detailsSchema>;

/** What the header of an asset says, with its names resolved. */
export async function detailsOf(asset: Asset, parsed: ParsedAsset, view: View): Promise<Details> {
  if (asset.status === "broken" || !parsed.value) return { type: "broken" };
  switch (parsed.type) {
    case "skill": {
      const { license, compatibility, metadata, allowedTools, disallowedTools, host } = parsed.value;
      const files = (await view.catalog.files?.(asset, view.ctx.signal)) ?? [];
      return {
        type: "skill",
        ...(license !== undefined && { license }),
        ...(compatibility !== undefined && { compatibility }),
        metadata: { ...metadata },
        files: files.map(({ path }) => path),
        references: referencesOf(asset, view.assets).map(({ name }) => name),
        ...(allowedTools && { grants: allowedTools.map((rule) => rule.text) }),
        ...(disallowedTools && { removals: disallowedTools.map((rule) => rule.text) }),
        host: { ...host },
      };
    }
    case "function": {
      const spec = parsed.value;
      const [gate, until] = [conditionText(spec.gate), conditionText(spec.continueUntil)];
      return {
        type: "function",
        ...(spec.label !== undefined && { label: spec.label }),
        priority: spec.priority,
        params: spec.params,
        requires: spec.requires,
        produces: spec.produces,
        consumes: spec.consumes,
        ...(gate !== undefined && { gate }),
        ...(until !== undefined && { continueUntil: until }),
        continueMax: spec.continueMax,
        requiresEvidence: spec.requiresEvidence,
        transitions: spec.transitions.map(({ when, activate, deactivate }) => ({
          when: conditionText(when) ?? "",
          activate,
          deactivate,
        })),
        observe: spec.observe.map((one) => {
          const when = conditionText(one.when);
          const capture = one.captureArtifact ?? one.capturePayloadAs;
          return {
            on: one.on,
            ...(one.tool !== undefined && { tool: one.tool }),
            ...(when !== undefined && { when }),
            ...(one.setEvidence !== undefined && { setEvidence: one.setEvidence }),
            ...(capture !== undefined && { capture }),
          };
        }),
        stateSchemaVersion: spec.stateSchemaVersion,
        hasHandlers: spec.handlers !== undefined,
        usedBy: await relationsOf(view).usersOf(asset),
      };
    }
    case "reference":
      return { type: "reference", usedBy: skillsWith(asset, view.assets) };
    case "role": {
      const spec = parsed.value;
      const { resolve, missing } = relationsOf(view).resolver(spec.id);
      const known = (type: Asset["type"], list: readonly string[]): string[] => list.map((name) => resolve(type, name));
      const skills = known("skill", spec.skills);
      const functions = [
        ...known("function", spec.functions),
        ...spec.inlineFunctions.map(({ name }) => `${spec.id}/${name}`),
      ];
      return {
        type: "role",
        displayName: spec.name,
        ...(spec.promptFile !== undefined && { promptFile: spec.promptFile }),
        skills,
        functions,
        disabledFunctions: known("function", spec.disableFunctions),
        autoActivate: known("function", spec.autoActivate),
        references: spec.references.map(({ name }) => name),
        subagents: view.assets
          .filter(
            ({ type, role: parent, shadowedBy }) => type === "role" && parent === spec.id && shadowedBy === undefined,
          )
          .map(({ name }) => name),
        missing: missing(),
        allow: spec.permission.allow.map((rule) => rule.text),
        deny: spec.permission.deny.map((rule) => rule.text),
        ask: spec.permission.ask.map((rule) => rule.text),
        tools: { ...spec.tools },
      };
    }
  }
}

/** References that lie in a skill's folder, by either of their paths. */
export function referencesOf(skill: Asset, assets: readonly Asset[]): Asset[] {
  const folders = [skill.path, ...skill.aliases].map((path) => `${dirname(path)}/`);
  return assets.filter(
    (asset) =>
      asset.type === "reference" &&
      [asset.path, ...asset.aliases].some((path) => folders.some((folder) => path.startsWith(folder))),
  );
}

function skillsWith(reference: Asset, assets: readonly Asset[]): string[] {
  return assets
    .filter((asset) => asset.type === "skill" && referencesOf(asset, [reference]).length > 0)
    .map(({ name }) => name);
}

const list = (label: string, values: readonly string[]): string[] =>
  values.length === 0 ? [] : [`**${label}:** ${values.join(", ")}`];

/** The details as bold-labelled lines. */
export function detailLines(details: Details): string[] {
  switch (details.type) {
    case "broken":
      return [];
    case "reference":
      return list("Used by", details.usedBy);
    case "skill": {
      const tools = [
        ...(details.grants ?? []).map((rule) => `+${rule}`),
        ...(details.removals ?? []).map((rule) => `−${rule}`),
      ];
      return [
        ...(tools.length > 0 ? [`**Tools:** ${tools.join(" ")}`] : []),
        ...(details.license === undefined ? [] : [`**License:** ${details.license}`]),
        ...(details.compatibility === undefined ? [] : [`**Compatibility:** ${details.compatibility}`]),
        ...list(
          "Metadata",
          Object.entries(details.metadata).map(([key, value]) => `${key}=${value}`),
        ),
        ...list("Files", details.files.slice(0, 50)),
        ...(details.files.length > 50 ? [`(${details.files.length - 50} more files)`] : []),
        ...list("References", details.references),
        ...list(
          "Host keys",
          Object.entries(details.host).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
        ),
      ];
    }
    case "function":
      return [
        ...(details.label === undefined ? [] : [`**Phase:** ${details.label}`]),
        ...(details.gate === undefined ? [] : [`**Gate:** ${details.gate}`]),
        ...(details.continueUntil === undefined
          ? []
          : [`**Continue until:** ${details.continueUntil} (at most ${details.continueMax})`]),
        ...list(
          "Params",
          details.params.map(({ name, default: otherwise }) =>
            otherwise === undefined ? name : `${name}=${otherwise}`,
          ),
        ),
        ...list("Requires", details.requires),
        ...list("Produces", details.produces),
        ...list("Consumes", details.consumes),
        ...list("Requires evidence", details.requiresEvidence),
        ...details.transitions.map(
          ({ when, activate, deactivate }) =>
            `**When** ${when}: activate ${activate.join(", ") || "nothing"}${deactivate.length > 0 ? `, deactivate ${deactivate.join(", ")}` : ""}`,
        ),
        ...details.observe.map(
          (one) =>
            `**Observes** ${one.on}${one.tool === undefined ? "" : ` of ${one.tool}`}${one.when === undefined ? "" : ` when ${one.when}`}${one.setEvidence === undefined ? "" : `: evidence ${one.setEvidence}`}${one.capture === undefined ? "" : `: artifact ${one.capture}`}`,
        ),
        ...(details.hasHandlers ? ["**Handlers:** present, never executed"] : []),
        ...list("Used by", details.usedBy),
      ];
    case "role":
      return [
        ...(details.promptFile === undefined ? [] : [`**Prompt file:** ${details.promptFile}`]),
        ...list("Skills", details.skills),
        ...list("Functions", details.functions),
        ...list("Disabled functions", details.disabledFunctions),
        ...list("Activated by itself", details.autoActivate),
        ...list("References", details.references),
        ...list("Sub-roles", details.subagents),
        ...list("Not found", details.missing),
        ...list("Allow", details.allow),
        ...list("Deny", details.deny),
        ...list("Ask", details.ask),
        ...list(
          "Tools",
          Object.entries(details.tools).map(([name, on]) => `${on ? "+" : "−"}${name}`),
        ),
      ];
  }
}
