import { testFamily } from "@toolhaft/testing";
import { expect } from "vitest";
import type { Assembled } from "../src/index.ts";
import { createFilesContext } from "./files-family.ts";

const files = {
  "docs/database.md": "# Database\n\nThe port of our Postgres moved to 5433.\n",
  "src/server.ts": 'export const port = Number(process.env.PORT ?? "8080");\n',
  "README.md": "# Shop\n\n数据库的端口已经改了。\n",
};

testFamily({
  make: () => createFilesContext(),
  golden: new URL("./golden/", import.meta.url),
  processes: { module: new URL("./files-family.ts", import.meta.url), factory: "createFilesContext" },
  tools: {
    context_assemble: {
      files,
      finer: ["topic"],
      valid: [
        {
          title: "a topic of two words",
          input: { topic: "postgres port" },
          check: ({ text, data }) => {
            expect(text).toContain("5433");
            expect((data as Assembled).hits.map(({ ref }) => ref)).toEqual(["docs/database.md", "src/server.ts"]);
          },
        },
        {
          title: "Chinese within 100 tokens",
          input: { topic: "端口", max_tokens: 100, sources: ["files", "files"] },
          check: ({ text }) => expect(text).toContain("数据库的端口已经改了"),
        },
        {
          title: "nothing",
          input: { topic: "kerberos" },
          check: ({ text }) => expect(text).toContain("Nothing found in files."),
        },
      ],
      invalid: [
        { title: "no topic", input: {} },
        { title: "a blank topic", input: { topic: "  " } },
        { title: "a topic that is too long", input: { topic: "x".repeat(1_001) } },
        { title: "99 tokens", input: { topic: "x", max_tokens: 99 } },
        { title: "20,001 tokens", input: { topic: "x", max_tokens: 20_001 } },
        { title: "no source", input: { topic: "x", sources: [] }, text: "files" },
        {
          title: "an unknown source",
          input: { topic: "x", sources: ["web"] },
          text: "memory, asset, task, session, files",
        },
        { title: "a source that is not configured", input: { topic: "x", sources: ["memory"] }, code: "unavailable" },
      ],
    },
  },
});
