// Say what tools may do, and be asked for the rest: npx tsx examples/policy-and-approval/main.ts
import { createInterface } from "node:readline/promises";
import { type Asker, createPolicy, type PolicyRule, parseRule, type ToolResult } from "@toolhaft/core";
import { createHashline } from "@toolhaft/hashline";

/** Notes may be written, secrets are out of reach, everything else is asked for. A deny always wins. */
const rules: PolicyRule[] = [
  parseRule("allow", "file.read:**"),
  parseRule("allow", "file.write:notes/**"),
  parseRule("deny", "file.*:**/.env"),
];

/** Creates a file with the policy in force, asking `asker` where it says so. */
export async function createFile(filePath: string, asker: Asker, directory = process.cwd()): Promise<ToolResult> {
  await using hashline = createHashline();
  const edit = hashline.tools.find(({ name }) => name === "hashline_edit");
  if (edit === undefined) throw new Error("hashline has no hashline_edit");
  const policy = createPolicy({ rules, directory });
  const input = { files: [{ filePath, version: "new", edits: [{ op: "append", lines: "hello" }] }] };
  return edit.call(input, { directory, policy, asker });
}

if (process.argv[1] === import.meta.filename) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const asker: Asker = async ({ permission, resources }) => {
    const answer = await terminal.question(`Allow ${permission} ${resources.join(", ")}? [y/N] `);
    return answer === "y" ? { allow: true } : { allow: false, feedback: "not now" };
  };
  for (const filePath of ["notes/a.txt", "b.txt", ".env"]) console.log((await createFile(filePath, asker)).text);
  terminal.close();
}
