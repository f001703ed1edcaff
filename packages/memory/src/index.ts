export { createMemory, type MemoryFamily, type MemoryOptions } from "./memory.ts";
