import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { longTestFiles } from "./packages/testing/src/long-files.ts";

const packages = fileURLToPath(new URL("./packages", import.meta.url));
const examples = fileURLToPath(new URL("./examples", import.meta.url));
const long = process.env.TOOLHAFT_LONG === "1";

/** Tests read sources, so a change is seen without a build; child processes in tests use the built packages. */
const alias = [
  { find: /^@toolhaft\/([^/]+)$/, replacement: `${packages}/$1/src/index.ts` },
  { find: /^@toolhaft\/([^/]+)\/(?!package\.json$)(.+)$/, replacement: `${packages}/$1/src/$2.ts` },
];

/** A project may be run by hand with `TOOLHAFT_LONG=1`; the whole long suite takes only the files that grow in it. */
const projects = [
  ...readdirSync(packages).map((name) => ({ name, root: `${packages}/${name}` })),
  { name: "examples", root: examples },
]
  .filter(({ root }) => existsSync(`${root}/test`))
  .map(({ name, root }) => ({ name, root, files: long ? longTestFiles(root) : ["test/**/*.test.ts"] }))
  .filter(({ files }) => files.length > 0);

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: false,
    projects: projects.map(({ name, root, files }) => ({
      resolve: { alias },
      test: {
        name,
        root,
        // What a package starts once for all its files, such as a server.
        globalSetup: [`${root}/test/global-setup.ts`].filter((file) => existsSync(file)),
        include: files,
        exclude: long ? [] : ["test/**/*.long.test.ts"],
        testTimeout: long ? 600_000 : 120_000,
        hookTimeout: long ? 600_000 : 120_000,
      },
    })),
  },
});
