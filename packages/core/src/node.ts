export { processStart } from "./node/process-start.ts";
export { type SpillOptions, spillTo } from "./node/spill.ts";
