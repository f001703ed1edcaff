import { z } from "zod";

const metadata = z.object({
  title: z.string().optional(),
  author: z.string().optional(),
  published: z.string().optional(),
  modified: z.string().optional(),
  site: z.string().optional(),
  language: z.string().optional(),
  description: z.string().optional(),
  image: z.string().optional(),
  canonical: z.string().optional(),
});

/** What `web_read` and `web_fetch` give. */
export const pageResult = z.object({
  url: z.string(),
  finalUrl: z.string(),
  status: z.number(),
  redirects: z.array(z.object({ status: z.number(), from: z.string(), to: z.string() })),
  contentType: z.string(),
  charset: z.string().optional(),
  engine: z.string(),
  pageType: z.string().optional(),
  title: z.string().optional(),
  content: z.string(),
  format: z.string(),
  encoding: z.literal("base64").optional(),
  range: z.object({ start: z.number(), end: z.number(), total: z.number() }),
  nextOffset: z.number().optional(),
  version: z.string(),
  metadata: metadata.optional(),
  mayNeedJavaScript: z.boolean(),
  fromCache: z.boolean(),
  trust: z.literal("untrusted"),
  boundary: z.string(),
  notes: z.array(z.object({ code: z.string(), message: z.string() })),
});

export type PageResult = z.infer<typeof pageResult>;
