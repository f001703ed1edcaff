// npm run docs: the API reference of every published package, read from its sources; it is generated and never committed.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, LogLevel } from "typedoc";
import { publishedPackages } from "./pack.mjs";
import { root } from "./setup.mjs";

/**
 * Reads every public symbol and gives what TypeDoc warned of: a link that leads nowhere, a parameter that is none.
 *
 * @param out Where the pages are written; without it nothing is.
 */
export async function makeDocs(out) {
  const entries = publishedPackages().flatMap(({ path, manifest }) =>
    sourcesOf(manifest).map((file) => join(path, file)),
  );
  const app = await Application.bootstrap({
    name: "Toolhaft",
    entryPoints: entries,
    tsconfig: join(root, "tsconfig.json"),
    basePath: join(root, "packages"),
    readme: join(root, "README.md"),
    ...(out !== undefined && { out }),
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    highlightLanguages: ["ts", "sh", "json", "text"],
    validation: {
      notExported: false,
      invalidLink: true,
      invalidPath: false,
      rewrittenLink: true,
      notDocumented: false,
    },
    logLevel: "Warn",
  });
  const warnings = [];
  app.logger.addContext = (message, level) => {
    if (level >= LogLevel.Warn) warnings.push(message);
    return message;
  };
  const project = await app.convert();
  if (project === undefined) return ["TypeDoc could not read the sources", ...warnings];
  app.validate(project);
  if (out !== undefined) await app.generateOutputs(project);
  return warnings;
}

/** The sources behind a package's `exports`, which name built files. */
function sourcesOf(manifest) {
  const built = JSON.stringify(manifest.exports ?? {}).matchAll(/"\.\/dist\/([^"]+?)\.js"/g);
  return [...new Set([...built].map(([, name]) => `src/${name}.ts`))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = join(root, "docs/api");
  const warnings = await makeDocs(out);
  console.log(`The API reference is in ${out}`);
  process.exitCode = warnings.length > 0 ? 1 : 0;
}
