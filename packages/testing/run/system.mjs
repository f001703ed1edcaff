// Programs from outside npm that tests run on. A family that needs one more adds one line to the table.
import { spawnSync } from "node:child_process";

/** `program` is what must be on the PATH (any of them), `apt` the Debian package that brings it, `suite` the suite that needs it. */
const needs = [
  { program: ["git"], apt: "git", suite: "test" },
  { program: ["openssl"], apt: "openssl", suite: "test" },
  { program: ["chromium", "google-chrome"], apt: "chromium", suite: "test" },
  { program: ["clangd", "clangd-19"], apt: "clangd-19", suite: "test" },
];

/** Installs what is missing where that is possible; what is not is said loudly, and the tests that need it skip. */
export function installSystemPrograms(suite) {
  const missing = needs.filter((need) => (suite === "long" || need.suite === "test") && !need.program.some(isOnPath));
  if (missing.length === 0) return;
  const names = missing.map(({ apt }) => apt);
  const prefix = aptPrefix();
  if (prefix === undefined) return shout(missing, "no apt-get, or neither root nor sudo without a password");
  console.log(`== system programs: ${names.join(" ")}`);
  const [command, ...first] = [...prefix, "apt-get"];
  const apt = (...words) =>
    spawnSync(command, [...first, "-o", "DPkg::Lock::Timeout=60", ...words], {
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 300_000,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    }).status === 0;
  const installAll = () => apt("install", "-y", "-q", "--no-install-recommends", ...names);
  if (!installAll()) {
    apt("update", "-q");
    installAll();
  }
  const still = missing.filter(({ program }) => !program.some(isOnPath));
  if (still.length > 0) shout(still, "apt-get could not install it");
}

function isOnPath(program) {
  return spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status === 0;
}

function aptPrefix() {
  if (process.platform !== "linux" || !isOnPath("apt-get")) return undefined;
  if (process.getuid?.() === 0) return [];
  return spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0 ? ["sudo", "-n"] : undefined;
}

function shout(missing, reason) {
  for (const { program, apt } of missing)
    console.log(`MISSING ${program.join(" or ")} (package ${apt}): ${reason}; tests that need it are skipped`);
}
