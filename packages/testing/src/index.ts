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
export { long, runs } from "./long.ts";
