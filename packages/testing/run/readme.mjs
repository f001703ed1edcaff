// npm run readme: writes the parts of the front page that come from the definitions of the tools; with the file of
// `npx pnpm bench --all --json > figures.json` also those that come from the benches: npm run readme -- figures.json
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import "./typescript-loader.mjs";
import { root } from "./setup.mjs";

const { figureTables, replacePart, toolTables } = await import("../../adapters/test/front-page.ts");
const file = join(root, "README.md");
let page = replacePart(readFileSync(file, "utf8"), "tools", await toolTables());
const [figures] = process.argv.slice(2);
if (figures !== undefined) page = replacePart(page, "figures", figureTables(JSON.parse(readFileSync(figures, "utf8"))));
writeFileSync(file, page);
