/** Sizes beyond which input is refused; every one may be changed by the option `limits`. */
export interface Limits {
  /** Code points. */
  title: number;
  tag: number;
  tags: number;
  subject: number;
  subjects: number;
  /** Bytes of UTF-8. */
  content: number;
  /** Live memories per workspace, scope and role. */
  memories: number;
  /** From this many live memories on a note says how many are left. */
  memoriesNote: number;
  /** Bytes of UTF-8. */
  key: number;
  /** Bytes of JSON. */
  value: number;
  /** Per namespace. */
  keys: number;
  entityName: number;
  entityType: number;
  attributes: number;
  /** Bytes of JSON. */
  attributeBytes: number;
}

export const defaultLimits: Limits = {
  title: 200,
  tag: 64,
  tags: 20,
  subject: 80,
  subjects: 8,
  content: 64 * 1024,
  memories: 10_000,
  memoriesNote: 9_000,
  key: 256,
  value: 256 * 1024,
  keys: 10_000,
  entityName: 200,
  entityType: 64,
  attributes: 50,
  attributeBytes: 16 * 1024,
};
