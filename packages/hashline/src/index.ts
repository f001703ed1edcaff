export { type Anchor, parseAnchor } from "./anchor.ts";
export { type AnchoredLine, type AnnotateOptions, annotate } from "./annotate.ts";
export type { HashlineEdit } from "./edit.ts";
export { type EditPlan, type PlanOptions, planEdits } from "./edit-plan.ts";
export type { EditedFile } from "./edited-file.ts";
export { createHashline, type Hashline } from "./hashline.ts";
export { createLineHasher, type HashWidth, type LineHasher } from "./line-hash.ts";
export type { HashlineOptions } from "./options.ts";
export type { Outcome } from "./write.ts";
