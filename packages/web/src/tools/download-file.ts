import { type AnyTool, defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { createDownloads } from "../download/download.ts";
import { oneLine } from "../untrusted.ts";

const input = z.object({
  url: z.string().describe("http or https"),
  path: z.string().min(1).max(4_096).describe("target; a folder ends in /"),
  sha256: z
    .string()
    .refine((digest) => /^[0-9a-fA-F]{64}$/.test(digest), "must be 64 hex digits")
    .optional()
    .describe("64 hex digits expected"),
  headers: z.record(z.string(), z.string()).optional().describe("for the URL's origin only"),
  timeout_seconds: z.number().min(10).max(1_800).default(300).describe("seconds"),
  overwrite: z.boolean().default(false).describe("replace a file"),
  max_bytes: z.number().int().min(1).max(10_737_418_240).default(1_073_741_824).describe("most bytes"),
});

const output = z.object({
  url: z.string(),
  finalUrl: z.string(),
  path: z.string(),
  bytes: z.number(),
  contentType: z.string(),
  sha256: z.string(),
  etag: z.string().optional(),
  resumedFrom: z.number().optional(),
  alreadyThere: z.boolean(),
});

export function downloadFileTool(download: ReturnType<typeof createDownloads>): AnyTool {
  return defineTool({
    name: "download_file",
    title: "Download a file",
    description:
      "Saves what a URL gives to a file, whole or not at all, and tells its SHA-256. The same call goes on with a download that was cut.",
    keywords: ["save", "wget", "curl", "fetch file", "下载", "ダウンロード"],
    inputSchema: input,
    outputSchema: output,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    examples: [{ title: "Save a data set", input: { url: "https://example.org/data.csv", path: "data/" } }],
    async execute(given, context) {
      const { data, fileChanges } = await download(
        {
          url: given.url,
          path: given.path,
          sha256: given.sha256?.toLowerCase(),
          headers: given.headers ?? {},
          timeoutMs: given.timeout_seconds * 1000,
          overwrite: given.overwrite,
          maxBytes: given.max_bytes,
        },
        context,
      );
      return toolOutput(data, { fileChanges });
    },
    render({ path, bytes, contentType, sha256, resumedFrom, alreadyThere }) {
      const type = contentType === "" ? "" : `, ${oneLine(contentType, 80)}`;
      const how = alreadyThere
        ? "is already there"
        : resumedFrom === undefined
          ? "saved"
          : `saved, gone on from byte ${resumedFrom}`;
      return `${path} ${how} (${bytes.toLocaleString("en-US")} bytes${type})\nsha256 ${sha256}`;
    },
  });
}
