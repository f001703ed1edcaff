import type { CallResult, Content } from "../facts.ts";
import { isObject, type JsonRecord } from "../json-line.ts";
import type { Todo } from "../model.ts";
import { list, nonEmpty, object, objects } from "../shapes.ts";
import { todoStatus, todosOf } from "../todo-list.ts";

interface Task {
  id: string;
  text: string;
  status: Todo["status"];
}

/** Follows a session's todo list: whole lists of `TodoWrite`, or tasks made and changed one by one. */
export class TodoTracker {
  #tasks: Task[];
  /** Texts of `TaskCreate` calls whose result, which tells the task's id, is still to come. */
  #made: Map<string, string>;

  constructor(saved: unknown) {
    const state = object(saved);
    this.#tasks = objects(state?.tasks).flatMap((task) => savedTask(task) ?? []);
    this.#made = new Map(
      list(state?.made).flatMap((pair) =>
        Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string" ? [[pair[0], pair[1]]] : [],
      ),
    );
  }

  state(): unknown {
    return { tasks: this.#tasks, made: [...this.#made] };
  }

  /** The whole list after this line, when the line changed it. */
  look(line: JsonRecord, content: readonly Content[], results: readonly CallResult[]): readonly Todo[] | undefined {
    let changed: readonly Todo[] | undefined;
    for (const part of content) {
      if (part.kind === "call") changed = this.#call(part) ?? changed;
    }
    for (const result of results) changed = this.#result(result, line) ?? changed;
    return this.#attachment(line) ?? changed;
  }

  #call(call: Extract<Content, { kind: "call" }>): readonly Todo[] | undefined {
    const input = parsed(call.input);
    switch (call.name) {
      case "TodoWrite":
        return Array.isArray(input.todos) ? todosOf(input.todos, ["content", "text", "subject"]) : undefined;
      case "TaskCreate": {
        const subject = nonEmpty(input.subject) ?? nonEmpty(input.description);
        if (subject !== undefined) this.#made.set(call.callId, subject);
        return undefined;
      }
      case "TaskUpdate":
        return this.#update(String(input.taskId ?? input.id ?? ""), input);
      default:
        return undefined;
    }
  }

  #result(result: CallResult, line: JsonRecord): readonly Todo[] | undefined {
    const subject = this.#made.get(result.callId);
    if (subject === undefined) return undefined;
    this.#made.delete(result.callId);
    if (result.status !== "completed") return undefined;
    const told = object(object(line.toolUseResult)?.task)?.id ?? /#(\w+)/.exec(result.output)?.[1];
    const id = told === undefined ? String(this.#tasks.length + 1) : String(told);
    this.#tasks.push({ id, text: subject, status: "pending" });
    return this.#todos();
  }

  #update(id: string, input: JsonRecord): readonly Todo[] | undefined {
    const task = this.#tasks.find((known) => known.id === id);
    if (task === undefined) return undefined;
    task.status = todoStatus(input.status) ?? task.status;
    task.text = nonEmpty(input.subject) ?? task.text;
    return this.#todos();
  }

  #attachment(line: JsonRecord): readonly Todo[] | undefined {
    const attachment = object(line.attachment);
    if (attachment?.type !== "task_reminder" && attachment?.type !== "todo" && attachment?.type !== "todo_reminder") {
      return undefined;
    }
    if (!Array.isArray(attachment.content)) return undefined;
    this.#tasks = objects(attachment.content).flatMap(
      (task) => savedTask({ ...task, text: task.subject ?? task.content }) ?? [],
    );
    return todosOf(attachment.content, ["subject", "content"]);
  }

  #todos(): readonly Todo[] {
    return this.#tasks.map(({ text, status }) => ({ text, status, priority: null }));
  }
}

function savedTask(task: JsonRecord): Task | undefined {
  const text = nonEmpty(task.text);
  const status = todoStatus(task.status) ?? "pending";
  return text === undefined ? undefined : { id: String(task.id ?? ""), text, status };
}

function parsed(json: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}
