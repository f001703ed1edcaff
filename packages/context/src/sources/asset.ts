import type { ContextSource } from "../source.ts";
import { findEach, queriesOf } from "./union.ts";

/** What is needed of a catalog of assets: that of `@toolhaft/assets` has it. */
export interface AssetSearch<A extends AssetFound = AssetFound> {
  /** Every word of `text` must occur. */
  search(
    query: { text: string; limit: number },
    signal?: AbortSignal,
  ): Promise<{ hits: readonly { asset: A; score: number; snippet?: string | undefined }[] }>;
  /** The text of an asset; without it the description and what was found are shown. */
  read?(asset: A, file?: string, signal?: AbortSignal): Promise<AssetText>;
}

/** A text file as it lies on disk, and how to read a stretch of its bytes. */
export interface AssetText {
  readonly bytes: Uint8Array;
  decode(start: number, end: number): string;
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

/** A longer asset is read up to here. */
const mostBytes = 1_048_576;

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
        async (text) => (await catalog.search({ text, limit }, signal)).hits,
      );
      return Promise.all(
        found.slice(0, limit).map(async ({ item: { asset, snippet }, score }) => {
          const { id, type, name, role, description, modifiedAt } = asset;
          const body = await bodyOf(catalog, asset, snippet ?? "", signal);
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

/** One asset that cannot be read is shown by what was found of it. */
async function bodyOf<A extends AssetFound>(
  catalog: AssetSearch<A>,
  asset: A,
  snippet: string,
  signal: AbortSignal,
): Promise<string> {
  if (catalog.read === undefined) return snippet;
  try {
    const file = await catalog.read(asset, undefined, signal);
    return file.decode(0, Math.min(file.bytes.length, mostBytes));
  } catch (error) {
    if (signal.aborted) throw error;
    return snippet;
  }
}
