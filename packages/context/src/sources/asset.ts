import type { ContextSource } from "../source.ts";
import { findEach, queriesOf } from "./union.ts";

/** What is needed of a catalog of assets: that of `@toolhaft/assets` has it. */
export interface AssetSearch<A extends AssetFound = AssetFound> {
  /** Every word of `text` must occur. */
  search(
    query: { text: string; limit: number },
    signal: AbortSignal,
  ): Promise<{ results: readonly { asset: A; score: number; snippet?: string | undefined }[] }>;
  /** The text of an asset; without it the description and what was found are shown. */
  read?(asset: A, file: undefined, signal: AbortSignal): Promise<{ text: string }>;
}

export interface AssetFound {
  /** Unique, and accepted wherever a name is. */
  id: string;
  type: string;
  name: string;
  role: string | null;
  description: string;
  /** Epoch milliseconds. */
  modifiedAt?: number;
}

export interface AssetSourceOptions {
  weight?: number;
}

/** Skills, functions, references and roles, those of sub-roles too. */
export function assetSource<A extends AssetFound>(
  catalog: AssetSearch<A>,
  options: AssetSourceOptions = {},
): ContextSource {
  const { weight } = options;
  return {
    name: "asset",
    ...(weight !== undefined && { weight }),
    async search({ terms, limit }, signal) {
      const found = await findEach(
        queriesOf(terms),
        ({ asset }: { asset: A; snippet?: string | undefined }) => asset.id,
        async (text) => (await catalog.search({ text, limit }, signal)).results,
      );
      return Promise.all(
        found.slice(0, limit).map(async ({ item: { asset, snippet }, score }) => {
          const { id, type, name, role, description, modifiedAt } = asset;
          const body = catalog.read ? (await catalog.read(asset, undefined, signal)).text : (snippet ?? "");
          return {
            ref: id,
            title: `${name} (${type}${role === null ? "" : ` of ${role}`})`,
            text: body.includes(description) ? body : [description, body].filter((part) => part !== "").join("\n"),
            score,
            ...(modifiedAt !== undefined && { at: modifiedAt }),
            follow: { tool: "asset_inspect", input: { name: id, type } },
          };
        }),
      );
    },
  };
}
