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
export { nextWord, runTogether, startBenchProcess } from "./bench-processes.ts";
export { type Child, startChild } from "./child.ts";
export { contextFor } from "./context-for.ts";
export { arbitraryOf } from "./contract/arbitrary.ts";
export type { Input, InvalidFixture, MakeTools, Setting, ToolFixtures, ValidFixture } from "./contract/fixtures.ts";
export type { ProcessModule } from "./contract/processes.ts";
export { type ContractCase, contractOf, type FamilyTest, testFamily, testTool } from "./contract/test-tool.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { long, runs } from "./long.ts";
export { checkReadmeExample, runExample } from "./readme.ts";
export {
  changedPaths,
  type Files,
  type Snapshot,
  snapshotOf,
  type TempWorkspace,
  tempWorkspace,
} from "./temp-workspace.ts";
