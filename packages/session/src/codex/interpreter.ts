import type { CallResult, Content, Fact, Interpreter, Place } from "../facts.ts";
import { isObject, type JsonRecord } from "../json-line.ts";
import type { MessageKind } from "../model.ts";
import { finite, isoTime, nonEmpty, object, text } from "../shapes.ts";
import { todosOf } from "../todo-list.ts";
import { envelopeChanges, patchChanges } from "./changes.ts";
import { eventResult, itemContent, itemResult, ownResult } from "./content.ts";
import { abortText, parsedObject, patchText, textContent, userContent } from "./event-text.ts";
import { freshState, type State } from "./state.ts";
import { tokenFacts } from "./token-facts.ts";
import { RunningTotal } from "./totals.ts";

export interface CodexOptions {
  /** The running totals of a session in order; undefined when it is not known. */
  totalsOf(session: string): readonly string[] | undefined;
  /** Whether the file holds `user_message` events at all: only without any do user items count as prompts. */
  hasUserEvents: boolean;
}

const injectedBlock =
  /^\s*(<(environment_context|user_instructions|permissions|turn_aborted|skill|subagent_notification|INSTRUCTIONS|collaboration_mode)[\s>]|# AGENTS\.md instructions|<user_shell_command>)/;

/** Reads the records of one Codex rollout. */
export function codexInterpreter(fileId: string, options: CodexOptions, saved?: unknown): Interpreter {
  const state: State = isObject(saved) ? { ...freshState(), ...(saved as Partial<State>) } : freshState();
  const total = new RunningTotal(state.total);
  let parentTotals = state.parent === null ? undefined : options.totalsOf(state.parent);
  return {
    record(record, place) {
      const payload = object(record.payload);
      if (payload !== undefined && typeof record.type === "string") {
        return envelope(record.type, payload, isoTime(record.timestamp), place);
      }
      return bare(record, place);
    },
    state: () => ({ ...state, total: total.last }),
  };

  function envelope(type: string, payload: JsonRecord, at: string | null, place: Place): Fact[] {
    switch (type) {
      case "session_meta":
        return metaFacts(payload, at);
      case "turn_context":
        return turnFacts(payload, at, place);
      case "response_item":
        return itemFacts(payload, at, place);
      case "event_msg":
        return eventFacts(payload, at, place);
      case "compacted":
        return [
          ...endAnswer(),
          message(`@${place.offset}`, "system", "compaction", at, textContent(text(payload.message) ?? "")),
        ];
      case "world_state":
      case "token_usage_record":
      case "inter_agent_communication_metadata":
        return [{ kind: "bookkeeping", type }];
      default:
        return [{ kind: "problem", code: "unknown_record" }];
    }
  }

  /** The first format: line 1 is the meta itself, then bare items and state records. */
  function bare(record: JsonRecord, place: Place): Fact[] {
    if (record.record_type === "state") return [{ kind: "bookkeeping", type: "state" }];
    if (typeof record.type === "string") return itemFacts(record, isoTime(record.timestamp), place);
    if (!state.identified && (nonEmpty(record.id) ?? nonEmpty(record.session_id)) !== undefined) {
      return metaFacts(record, isoTime(record.timestamp));
    }
    return [{ kind: "problem", code: "unknown_record" }];
  }

  function metaFacts(meta: JsonRecord, at: string | null): Fact[] {
    if (state.identified) {
      // An ancestor's meta opens the replay, with its old time stamp or with the moment of the fork.
      if (at !== null && at > state.replayedAt) state.replayedAt = at;
      return [{ kind: "bookkeeping", type: "session_meta" }];
    }
    state.identified = true;
    const id = nonEmpty(meta.id) ?? nonEmpty(meta.session_id) ?? fileId;
    state.replayedAt = isoTime(meta.timestamp) ?? at ?? "";
    state.provider = nonEmpty(meta.model_provider) ?? null;
    const spawned = object(object(object(meta.source)?.subagent)?.thread_spawn);
    const fork = nonEmpty(meta.forked_from_id);
    const above = nonEmpty(meta.parent_thread_id) ?? nonEmpty(spawned?.parent_thread_id);
    const parent = fork ?? above;
    state.parent = parent ?? null;
    parentTotals = parent === undefined ? undefined : options.totalsOf(parent);
    const branch = nonEmpty(object(meta.git)?.branch);
    const directory = nonEmpty(meta.cwd);
    const version = nonEmpty(meta.cli_version);
    return [
      ...(parent !== undefined ? [{ kind: "own" as const, from: null }] : []),
      {
        kind: "session",
        id,
        ...(directory !== undefined && { directory }),
        ...(state.replayedAt !== "" && { created: state.replayedAt }),
        ...(branch !== undefined && { branch }),
        ...(version !== undefined && { version }),
        ...(state.provider !== null && { provider: state.provider }),
        ...(parent !== undefined && {
          parent: { id: parent, kind: fork === undefined ? ("subagent" as const) : ("fork" as const), at: null },
        }),
      },
    ];
  }

  function turnFacts(payload: JsonRecord, at: string | null, place: Place): Fact[] {
    state.model = nonEmpty(payload.model) ?? state.model;
    return [...ownTurn(at, place), { kind: "bookkeeping", type: "turn_context" }];
  }

  function itemFacts(item: JsonRecord, at: string | null, place: Place): Fact[] {
    const type = text(item.type) ?? "";
    if (type.endsWith("_output")) return resultFacts(itemResult(item), at);
    if (type === "message" && item.role !== "assistant") return typedFacts(item, at, place);
    if (type === "compaction" || type === "context_compaction" || type === "ghost_snapshot") {
      return [{ kind: "bookkeeping", type }];
    }
    const content = itemContent(item);
    if (content.length === 0 && type !== "reasoning" && type !== "message") {
      return [{ kind: "problem", code: "unknown_record" }];
    }
    const facts: Fact[] = [message(answerKey(place), "assistant", "answer", at, content)];
    const results = ownResult(item);
    if (results.length > 0) facts.push({ kind: "results", results, at });
    for (const part of content) {
      if (part.kind !== "call") continue;
      if (part.name === "apply_patch") state.patches.push([part.callId, part.input]);
      if (part.name === "update_plan") facts.push(...planFacts(part.input));
    }
    return facts;
  }

  /** Items of other roles also carry what nobody typed; a person's words are told by `user_message` events. */
  function typedFacts(item: JsonRecord, at: string | null, place: Place): Fact[] {
    const content = itemContent(item);
    const said = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
    const role = nonEmpty(item.role) ?? "user";
    const typed = role === "user" && !said.every((part) => injectedBlock.test(part));
    if (typed && options.hasUserEvents) return [{ kind: "bookkeeping", type: "user_item" }];
    if (!typed) return [message(`@${place.offset}`, role, "injected", at, content)];
    return [...endAnswer(), ...ownTurn(at, place), ...prompt(content, at, place)];
  }

  function prompt(content: readonly Content[], at: string | null, place: Place): Fact[] {
    const said = content.find((part) => part.kind === "text");
    const facts: Fact[] = [message(`@${place.offset}`, "user", "prompt", at, content)];
    if (said?.kind === "text" && said.text.trim() !== "") facts.push({ kind: "title", rank: 1, text: said.text });
    return facts;
  }

  function eventFacts(event: JsonRecord, at: string | null, place: Place): Fact[] {
    switch (event.type) {
      case "user_message":
        return [...endAnswer(), ...ownTurn(at, place), ...prompt(userContent(event), at, place)];
      case "token_count":
        return tokenFacts(event, place, { state, total, parentTotals });
      case "exec_command_end":
      case "mcp_tool_call_end":
        return resultFacts(eventResult(event), at);
      case "patch_apply_end": {
        const results = eventResult(event);
        state.patches = state.patches.filter(([callId]) => callId !== results[0]?.callId);
        return [...resultFacts(results, at), ...patchChanges(event, results)];
      }
      case "task_started":
      case "turn_started": {
        state.window = finite(event.model_context_window) ?? state.window;
        return [...endAnswer(), ...ownTurn(at, place), { kind: "bookkeeping", type: String(event.type) }];
      }
      case "thread_name_updated": {
        const name = nonEmpty(event.thread_name) ?? nonEmpty(event.name);
        return name === undefined
          ? [{ kind: "bookkeeping", type: "thread_name_updated" }]
          : [{ kind: "title", rank: 5, text: name }];
      }
      case "turn_aborted":
        return [...endAnswer(), message(`@${place.offset}`, "system", "notice", at, textContent(abortText(event)))];
      case "error":
      case "stream_error":
      case "warning":
        return [message(`@${place.offset}`, "system", "notice", at, textContent(text(event.message) ?? ""))];
      default:
        return [{ kind: "bookkeeping", type: typeof event.type === "string" ? event.type : "event_msg" }];
    }
  }

  function resultFacts(results: readonly CallResult[], at: string | null): Fact[] {
    const facts: Fact[] =
      results.length === 0 ? [{ kind: "problem", code: "damaged_part" }] : [{ kind: "results", results, at }];
    for (const result of results) {
      const patch = state.patches.find(([callId]) => callId === result.callId);
      if (patch === undefined || result.rank !== 1) continue;
      state.patches = state.patches.filter((known) => known !== patch);
      if (result.status !== "completed" || !/success/i.test(result.output)) continue;
      for (const change of envelopeChanges(patchText(patch[1]))) {
        facts.push({ kind: "change", message: null, callId: result.callId, change });
      }
    }
    return facts;
  }

  /** A turn that begins after the last replayed total may be the first of the session's own. */
  function ownTurn(at: string | null, place: Place): Fact[] {
    if (state.parent === null || state.matched < 0 || state.ownFrom !== 0) return [];
    const known = parentTotals !== undefined && parentTotals.length > 0;
    if (known ? state.matched === 0 : at === null || at <= state.replayedAt) return [];
    state.ownFrom = place.offset;
    return [{ kind: "own", from: place.offset }];
  }

  function answerKey(place: Place): string {
    if (state.answer === null) {
      state.answers += 1;
      state.answer = `@${place.offset}`;
    }
    return state.answer;
  }

  function endAnswer(): Fact[] {
    state.answer = null;
    return [];
  }

  function message(
    key: string,
    role: string,
    messageKind: MessageKind,
    at: string | null,
    content: readonly Content[],
  ): Fact {
    const answer = messageKind === "answer";
    return {
      kind: "message",
      key,
      role,
      messageKind,
      at,
      model: answer ? state.model : null,
      provider: answer ? state.provider : null,
      inherited: false,
      content,
    };
  }

  function planFacts(input: string): Fact[] {
    const plan = parsedObject(input).plan;
    return Array.isArray(plan) ? [{ kind: "todos", todos: todosOf(plan, ["step", "content", "text"]) }] : [];
  }
}
