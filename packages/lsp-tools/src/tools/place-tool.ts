import { type AnyTool, defineTool } from "@toolhaft/core";
import type { Location, LocationLink } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Place } from "../answer.ts";
import { type Asked, askAll, askFirst } from "../ask.ts";
import { conclude } from "../conclude.ts";
import type { Feature } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { hasNoSpots, pageOfPlaces, spotsOf } from "../places.ts";
import { placeItems } from "../render/places.ts";
import { callText, headline, pagedText, plural, targetText } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

interface PlaceTool {
  name: string;
  title: string;
  description: string;
  feature: Feature;
  noun: string;
  limit: number;
  /** All servers' answers together, or the first that has any. */
  merge: boolean;
  insteadHint?: string;
}

/** A tool that goes from a position to places: definition, type definition, implementation, declaration. */
export function placeTool(toolbox: Toolbox, spec: PlaceTool): AnyTool {
  const { base } = toolbox;
  const defaults = { limit: spec.limit, offset: 0 };
  const p = parameters(base);
  return anyTool(
    defineTool({
      name: spec.name,
      title: spec.title,
      description: spec.description,
      inputSchema: z.object({ ...p.position, ...p.page(spec.limit) }),
      outputSchema: z.object({
        ...schemas.answer,
        ...schemas.page,
        places: z.array(schemas.place),
        files: z.number().int(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "nearest", base });
        const ask = spec.merge ? askAll : askFirst;
        type Found = Location | (Location | LocationLink)[] | null;
        const asked: Asked<Found>[] = await ask<Found>(call, file.served.serving, {
          feature: spec.feature,
          file,
          isEmpty: hasNoSpots,
          ask: (session) =>
            session.request(spec.feature.method, {
              textDocument: { uri: session.uri },
              position: target.position,
            }),
        });
        const spots = asked.flatMap((one) => spotsOf(one.result));
        const places = await pageOfPlaces(call, file, spots, input);
        const answer = conclude({
          feature: spec.feature,
          asked,
          missing: file.served.missing,
          empty: places.total === 0,
          insteadHint: spec.insteadHint,
          shown: file.shown,
        });
        return { target, ...answer, ...places };
      },
      render(output, input, toolName) {
        const target = targetText(output.target, base);
        if (output.total === 0) return headline(`No ${spec.noun} of ${target}`, output);
        const lead = `${plural(output.total, spec.noun)} of ${target}`;
        return pagedText({
          header: headline(lead, output, base),
          items: placeItems(output.places as Place[], base),
          page: output,
          answer: output,
          next: (offset) => callText(toolName(spec.name), input, { offset }, defaults),
        });
      },
    }),
  );
}
