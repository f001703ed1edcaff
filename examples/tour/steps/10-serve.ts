import { defineStep } from "../tour.ts";

export default defineStep({
  title: "Serve the tools over MCP on stdio, in a process of its own, and connect the official client",
  async run(tour) {
    tour.show("toolhaft mcp", await tour.server());
  },
});
