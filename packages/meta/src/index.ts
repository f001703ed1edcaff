export { createMeta, type Meta, type MetaOptions } from "./meta.ts";
