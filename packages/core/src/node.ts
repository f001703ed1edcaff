export { processStart } from "./node/process-start.ts";
