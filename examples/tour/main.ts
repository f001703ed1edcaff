// npm start: the tour of Toolhaft on a temporary copy of this repository. --step n runs one step, --json prints data.
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { copyOf, filesOf, fingerprint } from "./copy.ts";
import { createSession, type Session } from "./session.ts";
import { type Shown, Skipped, type Step } from "./tour.ts";
import { formatStep, formatSummary, type StepReport } from "./transcript.ts";

const values = readArguments();
const repository = fileURLToPath(new URL("../../", import.meta.url));
const started = performance.now();
const files = filesOf(repository);
const before = fingerprint(repository, files);
const directory = copyOf(repository, files);
const session = createSession(repository, directory);
const reports: StepReport[] = [];
let pids: number[] = [];
let problem: string | undefined;

try {
  const steps = await presentSteps(session);
  const only = values.step === undefined ? undefined : Number(values.step);
  if (only !== undefined && steps[only - 1] === undefined) problem = `--step takes a number from 1 to ${steps.length}`;
  for (const [index, step] of steps.entries()) {
    if (only !== undefined && only !== index + 1) continue;
    const report = await runStep(session, step, index + 1);
    reports.push(report);
    if (!values.json) console.log(formatStep(report));
    if (report.outcome === "failed") break;
  }
} finally {
  pids = await session.end();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

const unchanged = fingerprint(repository, files) === before;
const alive = pids.filter(isAlive);
const seconds = (performance.now() - started) / 1_000;
if (problem !== undefined) console.error(problem);
else if (values.json) console.log(JSON.stringify({ steps: reports, seconds, unchanged, alive }, null, 2));
else console.log(formatSummary(reports, seconds, unchanged));
if (alive.length > 0) console.error(`still running: ${alive.join(", ")}`);
if (!unchanged || alive.length > 0 || reports.length === 0 || reports.some(({ outcome }) => outcome === "failed"))
  process.exitCode = 1;

function readArguments(): { step?: string; json?: boolean } {
  try {
    return parseArgs({ options: { step: { type: "string" }, json: { type: "boolean" } } }).values;
  } catch (error) {
    console.error(
      `${error instanceof Error ? error.message : String(error)}\nusage: npm start -- [--step <n>] [--json]`,
    );
    return process.exit(1);
  }
}

/** The steps whose tools the server has; each is one file, so a family adds its own beside the others. */
async function presentSteps({ tour }: Session): Promise<Step[]> {
  const folder = new URL("./steps/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const loaded = await Promise.all(
    names.sort().map((name) => import(new URL(name, folder).href) as Promise<{ default: Step }>),
  );
  const served = new Set((await tour.tools()).map(({ name }) => name));
  return loaded.map((module) => module.default).filter(({ needs = [] }) => needs.every((tool) => served.has(tool)));
}

async function runStep({ tour, record }: Session, step: Step, number: number): Promise<StepReport> {
  const calls: Shown[] = [];
  record(calls);
  const start = performance.now();
  const report = { number, title: step.title, calls };
  const took = () => (performance.now() - start) / 1_000;
  try {
    await step.run(tour);
    return { ...report, outcome: "done", seconds: took() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...report, outcome: error instanceof Skipped ? "skipped" : "failed", reason, seconds: took() };
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}
