import { type AnyTool, defineTool, type Family, ToolError, toolOutput } from "@toolhaft/core";
import { z } from "zod";

/** Name, title, description, keywords of tools as an agent meets them; what they do does not matter here. */
const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
  [
    "memory_write",
    "Write a memory",
    "Keeps a note, decision or fact so that a later session finds it.",
    ["remember", "save note", "记住", "保存笔记"],
  ],
  [
    "memory_recall",
    "Recall memories",
    "Searches kept notes by words, best first.",
    ["remember", "look up notes", "what did we decide", "回忆", "查找记忆"],
  ],
  ["memory_list", "List memories", "Lists what is kept, newest first, without searching.", ["all notes", "记忆列表"]],
  [
    "memory_forget",
    "Forget a memory",
    "Takes a memory out of recall; it can be restored.",
    ["delete note", "忘记", "删除记忆"],
  ],
  [
    "memory_update",
    "Update a memory",
    "Changes title, content or tags of a memory in place.",
    ["edit note", "修改记忆"],
  ],
  [
    "knowledge_add_entity",
    "Add an entity",
    "Adds a person, system or thing to the graph of knowledge.",
    ["graph node", "添加实体"],
  ],
  [
    "knowledge_add_relation",
    "Add a relation",
    "Connects two entities of the graph.",
    ["graph edge", "link entities", "添加关系"],
  ],
  [
    "knowledge_query",
    "Query the graph",
    "Walks the graph from an entity along its relations.",
    ["graph search", "查询图谱"],
  ],
  [
    "hashline_read",
    "Read a file with anchors",
    "Shows lines of a text file, each with an anchor for editing.",
    ["open file", "view file", "cat", "读取文件"],
  ],
  [
    "hashline_edit",
    "Edit by anchors",
    "Changes lines of files named by their anchors, all or nothing.",
    ["modify file", "change code", "编辑文件"],
  ],
  ["edit_file", "Edit a file", "Replaces an exact text in a file by another.", ["find and replace", "替换文本"]],
  ["apply_patch", "Apply a patch", "Applies a patch that adds, changes, moves or deletes files.", ["diff", "应用补丁"]],
  ["undo_edit", "Undo an edit", "Takes the last change of files back.", ["revert", "撤销"]],
  [
    "lsp_diagnostics",
    "Diagnostics",
    "Errors and warnings of a source file, from its language server.",
    ["compile errors", "type errors", "lint", "编译错误"],
  ],
  [
    "lsp_definition",
    "Go to definition",
    "Finds where a symbol is defined.",
    ["jump to", "source of function", "跳转定义"],
  ],
  ["lsp_references", "Find references", "Finds every use of a symbol.", ["usages", "who calls", "查找引用"]],
  ["lsp_rename", "Rename a symbol", "Renames a symbol in all files that use it.", ["refactor", "重命名"]],
  ["lsp_hover", "Hover", "Type and documentation of the symbol at a place.", ["type of variable", "类型信息"]],
  [
    "lsp_workspace_symbols",
    "Workspace symbols",
    "Finds classes and functions of the project by name.",
    ["find class", "find function", "符号搜索"],
  ],
  [
    "web_read",
    "Read a page",
    "Fetches a web page and gives its main content as Markdown.",
    ["download article", "open url", "读取网页"],
  ],
  [
    "web_search",
    "Search the web",
    "Searches the internet and gives results with links.",
    ["google", "internet search", "搜索网络"],
  ],
  [
    "web_fetch",
    "Fetch a URL",
    "Gets a URL as it is: status, headers, body.",
    ["http get", "api request", "curl", "请求接口"],
  ],
  ["web_download", "Download a file", "Saves a file from the internet into the workspace.", ["save pdf", "下载文件"]],
  [
    "task_create",
    "Create a task",
    "Puts a new task on the board for somebody to claim.",
    ["todo", "add ticket", "创建任务"],
  ],
  ["task_claim", "Claim a task", "Takes the next free task of the board for this agent.", ["take work", "认领任务"]],
  [
    "task_complete",
    "Complete a task",
    "Marks a claimed task as done, with its result.",
    ["finish", "done", "完成任务"],
  ],
  ["task_list", "List tasks", "Lists tasks of the board by state and owner.", ["backlog", "任务列表"]],
  ["task_graph", "Show the graph of tasks", "Draws which task waits for which.", ["dependencies", "依赖关系"]],
  [
    "dispatch_agent",
    "Run a sub-agent",
    "Starts another agent on a piece of work, in the background.",
    ["delegate", "spawn agent", "子代理"],
  ],
  [
    "dispatch_status",
    "Status of sub-agents",
    "Tells how far dispatched agents are.",
    ["progress of agents", "代理状态"],
  ],
  [
    "dispatch_cancel",
    "Cancel a sub-agent",
    "Stops a dispatched agent and those it started.",
    ["kill agent", "取消代理"],
  ],
  [
    "session_list",
    "List sessions",
    "Lists earlier conversations with date and title.",
    ["history", "past chats", "会话列表"],
  ],
  [
    "session_search",
    "Search sessions",
    "Searches the text of earlier conversations.",
    ["old chat", "what did I say", "搜索会话"],
  ],
  ["session_read", "Read a session", "Shows messages of an earlier conversation.", ["transcript", "阅读会话"]],
  [
    "session_fork",
    "Fork a session",
    "Copies a conversation up to a message, to go on from there.",
    ["branch chat", "分支会话"],
  ],
  [
    "skill_search",
    "Search skills",
    "Finds skills, instructions and references by topic.",
    ["how-to guides", "搜索技能"],
  ],
  ["skill_load", "Load a skill", "Gives the full text of a skill.", ["read instructions", "加载技能"]],
  [
    "workflow_step",
    "Step a workflow",
    "Moves a workflow to its next step when its gate is open.",
    ["state machine", "流程"],
  ],
  [
    "context_assemble",
    "Assemble context",
    "Collects what is known about a topic from memories, tasks and sessions.",
    ["gather background", "briefing", "汇总上下文"],
  ],
  ["image_describe", "Describe a picture", "Says what is to be seen in a picture.", ["vision", "photo", "描述图片"]],
];

export function createCatalogueTools(): readonly Family[] {
  const families = new Map<string, AnyTool[]>();
  for (const [name, title, description, keywords] of rows) {
    const family = name.split("_")[0] ?? name;
    const tool = defineTool({
      name,
      title,
      description,
      keywords,
      inputSchema: z.object({ text: z.string().optional().describe("What it is about") }),
      outputSchema: z.object({ did: z.string() }),
      annotations: {
        readOnlyHint: !name.includes("edit"),
        destructiveHint: name.includes("edit"),
        idempotentHint: true,
        openWorldHint: name.startsWith("web"),
      },
      execute: async () => ({ did: name }),
      render: ({ did }) => `did ${did}`,
    });
    families.set(family, [...(families.get(family) ?? []), tool]);
  }
  return [...families].map(([name, tools]) => ({
    name,
    tools,
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }));
}

const change = {
  kind: "create",
  path: "a.txt",
  before: null,
  after: null,
  additions: 1,
  deletions: 0,
  diff: "",
  diffTruncated: false,
} as const;

/** Tools whose inner call has something to tell: questions, progress, aborts, failures with and without changed files. */
export function createProbes(): Family {
  const common = {
    inputSchema: z.object({ path: z.string().optional().describe("A path") }),
    outputSchema: z.object({ done: z.boolean() }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    render: () => "done",
  };
  const asks = defineTool({
    ...common,
    name: "probe_ask",
    title: "Ask for a file",
    description: "Asks for a path and says whether it was granted.",
    async execute({ path = "/elsewhere/x" }, context) {
      await context.ask({ permission: "file.write", resources: [path], reason: "probe" });
      return { done: true };
    },
  });
  const waits = defineTool({
    ...common,
    name: "probe_wait",
    title: "Wait for the signal",
    description: "Sends one progress update and waits until it is stopped.",
    execute: (_input, context) =>
      new Promise((_resolve, reject) => {
        context.progress({ progress: 1, message: "waiting" });
        context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true });
      }),
  });
  const fails = defineTool({
    ...common,
    name: "probe_fail",
    title: "Fail with a lead",
    description: "Fails before anything happened, or after a file was changed.",
    failureLead: "Rejected, nothing written.",
    async execute({ path }) {
      if (path === undefined)
        throw new ToolError("conflict", "the file changed", { hint: "read it again", details: { line: 3 } });
      throw new ToolError("upstream", "half of it was done", { fileChanges: [change] });
    },
  });
  const changes = defineTool({
    ...common,
    name: "probe_change",
    title: "Change a file",
    description: "Gives a file change and an attachment beside its data.",
    execute: async () =>
      toolOutput(
        { done: true },
        {
          fileChanges: [change],
          attachments: [{ name: "a", mimeType: "text/plain", bytes: 1, source: { kind: "text", text: "a" } }],
        },
      ),
  });
  return {
    name: "probe",
    tools: [asks, waits, fails, changes],
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
