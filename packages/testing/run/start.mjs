// npm start: installs, builds, and runs the tour of the repository on a copy of itself.
import { spawnSync } from "node:child_process";
import { build, install, orExit, requireNode, root } from "./setup.mjs";

requireNode();
orExit(install);
orExit(build);
const { status } = spawnSync(process.execPath, ["--import", "tsx", "examples/tour/main.ts", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
