import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { defineStep } from "../tour.ts";

const run = promisify(execFile);

export default defineStep({
  title: "Write a memory, then recall it in a second process",
  needs: ["memory_write", "memory_recall"],
  async run(tour) {
    await tour.call("memory_write", {
      title: "Port of the test database",
      content: "PostgreSQL listens on 6432 here, for 5432 is taken.",
      category: "fact",
      scope: "workspace",
    });
    const built = pathToFileURL(join(tour.repository, "packages", "memory", "dist", "index.js")).href;
    const program = `
      const { createMemory } = await import(${JSON.stringify(built)});
      const memory = createMemory();
      const recall = memory.tools.find(({ name }) => name === "memory_recall");
      const result = await recall.call({ query: "which port does the database use?" }, { directory: process.cwd() });
      console.log(result.text);
      await memory.close();
    `;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: tour.directory });
    tour.show('second process: memory_recall {"query":"which port does the database use?"}', stdout.trim());
    tour.check(stdout.includes("6432"), "the second process did not find the memory");
  },
});
