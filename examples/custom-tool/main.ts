// Define a tool of your own and call it by hand: npx tsx examples/custom-tool/main.ts
import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";

const prices = new Map([
  ["tea", 3],
  ["cake", 5],
]);

/** A tool is plain data plus one function: it returns data, and `render` makes the text a model reads. */
export const price = defineTool({
  name: "price",
  title: "Look up a price",
  description: "Gives the price of one thing on the menu in euros. Use it before you tell anybody a price.",
  inputSchema: z.object({
    item: z.string().min(1).describe("What it is called on the menu"),
    count: z.number().int().min(1).max(99).default(1).describe("How many"),
  }),
  outputSchema: z.object({ item: z.string(), euros: z.number() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async execute({ item, count }) {
    const each = prices.get(item);
    if (each === undefined)
      throw new ToolError("not_found", `${item} is not on the menu`, {
        hint: `there are: ${[...prices.keys()].join(", ")}`,
      });
    return { item, euros: each * count };
  },
  render: ({ item, euros }) => `${item}: ${euros} €`,
});

if (process.argv[1] === import.meta.filename) {
  for (const input of [{ item: "cake", count: 2 }, { item: "beer" }]) {
    const result = await price.call(input);
    console.log(result.text);
  }
}
