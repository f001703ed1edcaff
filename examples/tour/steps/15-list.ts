import { defineStep } from "../tour.ts";

/** Bytes per token of a tool's listing, as core estimates it. */
const bytesPerToken = 4.8;

export default defineStep({
  title: "List the tools with what each costs a model to know",
  async run(tour) {
    const rows = (await tour.tools()).map(({ name, title, description, inputSchema }) => {
      const bytes = Buffer.byteLength(JSON.stringify({ name, description, schema: inputSchema }));
      return { name, title, tokens: Math.ceil(bytes / bytesPerToken) };
    });
    const total = rows.reduce((sum, { tokens }) => sum + tokens, 0);
    const lines = rows.map(({ name, title, tokens }) => `${String(tokens).padStart(5)}  ${name.padEnd(24)} ${title}`);
    tour.show("tools/list", [`${rows.length} tools, about ${total} tokens`, ...lines].join("\n"));
  },
});
