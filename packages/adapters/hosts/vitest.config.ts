import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const host = process.env.TOOLHAFT_HOST;
if (host === undefined) throw new Error("set TOOLHAFT_HOST to a folder beside this file");
const packages = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
/** What is written once for all versions of a host. */
const shared = [`${packages}adapters/src/`, `${packages}adapters/test/hosts/`];
const examples = fileURLToPath(new URL("../../../examples/", import.meta.url));

/** The conformance suite for one heavy host, whose libraries stand in its own folder and nowhere else. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@toolhaft\/([^/]+)$/, replacement: `${packages}$1/src/index.ts` },
      { find: /^@toolhaft\/([^/]+)\/(?!package\.json$)(.+)$/, replacement: `${packages}$1/src/$2.ts` },
    ],
  },
  plugins: [
    {
      name: "libraries-of-the-host",
      enforce: "pre",
      resolveId(source, importer = "") {
        const bare = /^[@a-z]/.test(source) && !source.startsWith("@toolhaft/");
        if (!bare || ![...shared, examples].some((folder) => importer.startsWith(folder))) return null;
        return this.resolve(source, `${here}${host}/host.ts`, { skipSelf: true });
      },
    },
  ],
  test: {
    root: here,
    include: ["conformance.test.ts", `${host}/*.test.ts`],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
