import { type AnyTool, defineTool } from "@toolhaft/core";
import type { SignatureHelp, SignatureInformation } from "vscode-languageserver-protocol";
import { z } from "zod";
import { askFirst } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { markdownOf } from "../hover-text.ts";
import { beginCall, openFile } from "../open-file.ts";
import { clip, headline, notes, targetText } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const parameter = z.object({ label: z.string(), documentation: z.string().optional() });

export function signatureHelp(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_signature_help",
      title: "Signature help",
      description: "Signatures and parameters of the call around a position, or that follows symbol.",
      inputSchema: z.object(parameters(base).position),
      outputSchema: z.object({
        ...schemas.answer,
        signatures: z.array(
          z.object({
            label: z.string(),
            documentation: z.string().optional(),
            parameters: z.array(parameter),
            activeParameter: z.number().int().optional(),
          }),
        ),
        activeSignature: z.number().int(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "keep", spot: "arguments", base });
        const feature = features.signatureHelp;
        const asked = await askFirst<SignatureHelp | null>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => (result?.signatures?.length ?? 0) === 0,
          ask: (session) =>
            session.request(feature.method, {
              textDocument: { uri: session.uri },
              position: target.position,
              context: { triggerKind: 1, isRetrigger: false },
            }),
        });
        const help = asked.find((one) => one.report.outcome === "answered")?.result;
        const signatures = (help?.signatures ?? []).map((one) => signatureOf(one, help?.activeParameter));
        const empty = signatures.length === 0;
        const answer = conclude({ feature, asked, missing: file.served.missing, empty, shown: file.shown });
        return { target, ...answer, signatures, activeSignature: help?.activeSignature ?? 0 };
      },
      render(output) {
        const where = targetText(output.target, base);
        if (output.signatures.length === 0) return headline(`No signature at ${where}`, output);
        const lines = output.signatures.map((one, index) => {
          const active = index === output.activeSignature;
          const current = active && one.activeParameter !== undefined ? one.parameters[one.activeParameter] : undefined;
          const documentation = active && one.documentation ? `\n  ${clip(one.documentation, 4_000)}` : "";
          const now = current
            ? `\n  now: ${current.label}${current.documentation ? `: ${clip(current.documentation, 1_000)}` : ""}`
            : "";
          return `${active ? "> " : "  "}${one.label}${now}${documentation}`;
        });
        return [headline(`Call at ${where}`, output, base), ...lines, ...notes(output)].join("\n");
      },
    }),
  );
}

function signatureOf(signature: SignatureInformation, activeParameter: number | null | undefined) {
  const documentation = markdownOf(signature.documentation);
  const active = signature.activeParameter ?? activeParameter;
  return {
    label: signature.label,
    ...(documentation !== "" && { documentation: clip(documentation, 4_000) }),
    parameters: (signature.parameters ?? []).map((one) => {
      const text = markdownOf(one.documentation);
      const label = typeof one.label === "string" ? one.label : signature.label.slice(one.label[0], one.label[1]);
      return { label, ...(text !== "" && { documentation: text }) };
    }),
    ...(typeof active === "number" && { activeParameter: active }),
  };
}
