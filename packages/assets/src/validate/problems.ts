import type { Problem } from "@toolhaft/asset-format";
import { type Asset, type Issue, refOf } from "../model.ts";

export function problemIssue(asset: Asset, { rule, severity, message, hint, line, column }: Problem): Issue {
  return {
    rule,
    severity,
    asset: refOf(asset),
    file: asset.path,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    message,
    hint,
  };
}

/** What a parser found, as issues of an asset. */
export function problemIssues(asset: Asset, problems: readonly Problem[]): Issue[] {
  return problems.map((problem) => problemIssue(asset, problem));
}
