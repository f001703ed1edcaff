import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { longTestFiles } from "./packages/testing/src/long-files.ts";

const packages = fileURLToPath(new URL("./packages", import.meta.url));
const long = process.env.TOOLHAFT_LONG === "1";

/** Tests read sources, so a change is seen without a build; child processes in tests use the built packages. */
const alias = [
  { find: /^@toolhaft\/([^/]+)$/, replacement: `${packages}/$1/src/index.ts` },
  { find: /^@toolhaft\/([^/]+)\/(?!package\.json$)(.+)$/, replacement: `${packages}/$1/src/$2.ts` },
];

/** A project may be run by hand with `TOOLHAFT_LONG=1`; the whole long suite takes only the files that grow in it. */
const projects = readdirSync(packages)
  .filter((name) => existsSync(`${packages}/${name}/test`))
  .map((name) => ({ name, files: long ? longTestFiles(`${packages}/${name}`) : ["test/**/*.test.ts"] }))
  .filter(({ files }) => files.length > 0);

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: false,
    projects: projects.map(({ name, files }) => ({
      resolve: { alias },
      test: {
        name,
        root: `${packages}/${name}`,
        include: files,
        exclude: long ? [] : ["test/**/*.long.test.ts"],
        testTimeout: long ? 600_000 : 60_000,
        hookTimeout: long ? 600_000 : 60_000,
      },
    })),
  },
});
