export { long, runs } from "./long.ts";
