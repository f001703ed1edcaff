import { readFile } from "node:fs/promises";
import { runExample } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { asAdmin, databaseUrl, describeServer } from "./setting.ts";

describeServer("the README", () => {
  it("its example runs as written, on this server", async () => {
    const readme = new URL("../README.md", import.meta.url);
    const example = /```ts\n([\s\S]*?)```/.exec(await readFile(readme, "utf8"))?.[1] ?? "";
    expect(example).toContain("postgres://app@localhost:5432/work");
    const used = `
const context = { agent: "a", sessionId: "s" };
const call = async (family: { tools: readonly AnyTool[] }, name: string, input: unknown) => {
  const result = await family.tools.find((tool) => tool.name === name)?.call(input, context);
  console.log(name, result?.ok);
};
await call(tasks, "task_post", { title: "Fix the lexer", body: "It loops." });
await call(memory, "memory_write", { title: "Port", content: "5433", category: "fact" });
await call(sessions, "session_list", {});
for (const family of [tasks, memory, sessions]) await family.close();
`;
    const program = `import type { AnyTool } from "@toolhaft/core";\n${example.replace("postgres://app@localhost:5432/work", databaseUrl)}${used}`;
    expect(await runExample(program, new URL("./", import.meta.url))).toBe(
      "task_post true\nmemory_write true\nsession_list true\n",
    );
    await asAdmin("DROP SCHEMA toolhaft CASCADE");
  });
});
