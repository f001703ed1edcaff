import type { AnyTool } from "../tool.ts";

export type Patterns = string | readonly string[];

export interface PolicyRule {
  effect: "allow" | "ask" | "deny";
  tools?: Patterns;
  agents?: Patterns;
  permission?: Patterns;
  resources?: Patterns;
  reason?: string;
}

export interface Verdict {
  effect: "allow" | "ask" | "deny";
  rule?: PolicyRule;
  reason: string;
}

export interface Policy {
  check(query: { tool: string; agent: string; permission?: string; resource?: string }): Verdict;
  visible(tool: AnyTool, agent: string): boolean;
  narrow(child: Policy): Policy;
}
