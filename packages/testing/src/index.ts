export {
  type Bench,
  type BenchFile,
  type BenchReport,
  type BenchRow,
  type BenchTable,
  type Comparison,
  defineBench,
  type Figure,
  meets,
  type Target,
  type Timing,
  type Work,
} from "./bench.ts";
export { contextFor } from "./context-for.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { long, runs } from "./long.ts";
export {
  changedPaths,
  type Files,
  type Snapshot,
  snapshotOf,
  type TempWorkspace,
  tempWorkspace,
} from "./temp-workspace.ts";
