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
