export { type Line, type LineSource, readLines } from "./lines.ts";
export type {
  Message,
  MessageKind,
  Part,
  Problem,
  ProblemCode,
  Summary,
  Todo,
  ToolCall,
  ToolStatus,
  Usage,
} from "./model.ts";
