import type { Fact, Place } from "../facts.ts";
import type { JsonRecord } from "../json-line.ts";
import { noUsage, type Usage } from "../model.ts";
import { finite, object } from "../shapes.ts";
import type { State } from "./state.ts";
import { difference, RunningTotal, totalKey } from "./totals.ts";

/**
 * What a `token_count` event adds: the rise of the total, or nothing for a total that stands; what the parent's totals hold
 * already is inherited.
 */
export function tokenFacts(
  event: JsonRecord,
  place: Place,
  { state, total, parentTotals }: { state: State; total: RunningTotal; parentTotals: readonly string[] | undefined },
): Fact[] {
  const info = object(event.info);
  if (info === undefined) return [{ kind: "bookkeeping", type: "token_count" }];
  state.window = finite(info.model_context_window) ?? state.window;
  const before = total.last;
  const rise = total.next(info);
  if (rise === undefined) return [{ kind: "bookkeeping", type: "token_count" }];
  const facts: Fact[] = [];
  let usage = rise.usage;
  let inherited = false;
  if (state.parent !== null && state.matched >= 0) {
    const expected = parentTotals?.[state.matched];
    if (expected === rise.total) {
      state.matched += 1;
      if (state.ownFrom !== 0) facts.push({ kind: "own", from: null });
      state.ownFrom = 0;
      inherited = true;
    } else if (parentTotals === undefined && state.ownFrom === 0) {
      inherited = true;
    } else {
      state.matched = -1;
      if (parentTotals === undefined && totalKey(before) === totalKey(noUsage)) {
        // The parent is gone: what stands before the event's own usage was counted there.
        const last = object(info.last_token_usage);
        const own = last === undefined ? usage : new RunningTotal().next({ total_token_usage: last })?.usage;
        usage = own ?? usage;
        facts.push({ kind: "problem", code: "estimated_usage" });
        const baseline = difference(rise.usage, usage);
        if (totalKey(baseline) !== totalKey(noUsage))
          facts.push(usageFact(state, `${rise.total}:baseline`, baseline, true, place));
      }
    }
  }
  facts.push(usageFact(state, rise.total, usage, inherited, place));
  facts.push({ kind: "context", peakTokens: contextTokens(info), window: state.window });
  state.answer = null;
  return facts;
}

function usageFact(state: State, key: string, usage: Usage, inherited: boolean, place: Place): Fact {
  return {
    kind: "usage",
    key,
    response: key,
    message: state.answer ?? `@${place.offset}`,
    model: state.model,
    provider: state.provider,
    usage,
    cacheWrite1h: 0,
    costUsd: null,
    sidechain: false,
    inherited,
  };
}

function contextTokens(info: JsonRecord): number | null {
  return finite(object(info.last_token_usage)?.total_tokens) ?? null;
}
