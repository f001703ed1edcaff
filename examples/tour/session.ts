import { delimiter, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Shown, Skipped, type Tour } from "./tour.ts";

/** What the runner sees of a running tour. */
export interface Session {
  tour: Tour;
  /** Where the calls of the current step are shown. */
  record(shown: Shown[]): void;
  /** Ends servers and whatever steps left to be ended; gives the processes that were started. */
  end(): Promise<number[]>;
}

/** A tour in a copy of the repository; the server is started by the first call that needs it. */
export function createSession(repository: string, directory: string): Session {
  let shown: Shown[] = [];
  let decide: (message: string) => { action: "accept"; content: Record<string, string> } = () => {
    throw new Error("a question came up that this step did not expect");
  };
  const pids: number[] = [];
  const ends: (() => unknown)[] = [];
  let connecting: Promise<Client> | undefined;

  const connect = async (): Promise<Client> => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(repository, "packages/toolhaft/dist/bin.js"), "mcp", "--quiet"],
      cwd: directory,
      // The language servers of this repository's own tests, behind those of the machine.
      env: {
        PATH: [process.env.PATH, join(repository, "packages/lsp-tools/test/servers/node_modules/.bin")].join(delimiter),
      },
      stderr: "inherit",
    });
    const client = new Client({ name: "tour", version: "1.0.0" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler("elicitation/create", ({ params }) => decide(params.message));
    await client.connect(transport);
    if (transport.pid !== null) pids.push(transport.pid);
    ends.push(() => client.close());
    return client;
  };
  const client = () => {
    connecting ??= connect();
    return connecting;
  };

  const tour: Tour = {
    repository,
    directory,
    path: (relative) => join(directory, relative),
    async call(tool, input, expected = "success") {
      const { content, isError } = await (await client()).callTool({ name: tool, arguments: input });
      const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      shown.push({ call: `${tool} ${JSON.stringify(input)}`, answer: text });
      const failed = isError === true;
      if (failed !== (expected === "failure")) throw new Error(failed ? text : `${tool} should have been refused`);
      return { text, failed };
    },
    tools: async () => (await (await client()).listTools()).tools,
    async server() {
      const connected = await client();
      const { name, version } = connected.getServerVersion() ?? { name: "?", version: "?" };
      return `${name} ${version}, protocol ${connected.getNegotiatedProtocolVersion()}`;
    },
    answerQuestions(decision, feedback) {
      const questions: string[] = [];
      decide = (message) => {
        questions.push(message);
        return { action: "accept", content: { decision, ...(feedback !== undefined && { feedback }) } };
      };
      return { questions };
    },
    show: (call, answer) => void shown.push({ call, answer }),
    check(condition, message) {
      if (!condition) throw new Error(message);
    },
    skip(reason) {
      throw new Skipped(reason);
    },
    onEnd: (work) => void ends.push(work),
  };
  return {
    tour,
    record(next) {
      shown = next;
    },
    async end() {
      for (const work of ends.reverse()) await work();
      return pids;
    },
  };
}
