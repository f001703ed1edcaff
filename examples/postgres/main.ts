// Three workers, on three machines if you like, share one board: DATABASE_URL=postgres://… npx tsx examples/postgres/main.ts
import { postgresTasks } from "@toolhaft/postgres/tasks";
import { createTasks, type Tasks } from "@toolhaft/tasks";

/** The tools of one process, called under an agent's name. */
function caller(tasks: Tasks, agent: string) {
  return async (name: string, input: Record<string, unknown>) => {
    const result = await tasks.tools
      .find((tool) => tool.name === name)
      ?.call(input, { directory: process.cwd(), agent, sessionId: `session of ${agent}` });
    if (result?.ok !== true) throw new Error(result?.text);
    return result.data as { task: { id: string; title: string } | null };
  };
}

/** Claims and completes until nothing is left; tells what it did. */
async function work(agent: string, options: { connectionString: string; schema: string }): Promise<string[]> {
  await using tasks = createTasks({ store: postgresTasks(options) });
  const call = caller(tasks, agent);
  const done: string[] = [];
  for (;;) {
    const { task } = await call("task_claim", {});
    if (task === null) return done;
    await call("task_complete", { task_id: task.id, result: `${task.title}: done by ${agent}` });
    done.push(task.title);
  }
}

/** Posts chapters to translate and lets three workers share them: what each of them did. */
export async function share(connectionString: string, schema = "toolhaft"): Promise<Record<string, string[]>> {
  const options = { connectionString, schema };
  await using board = createTasks({ store: postgresTasks(options) });
  const post = caller(board, "planner");
  for (let chapter = 1; chapter <= 12; chapter++)
    await post("task_post", { title: `chapter ${chapter}`, body: "Translate it into French." });
  const workers = ["ana", "ben", "eva"];
  const done = await Promise.all(workers.map((agent) => work(agent, options)));
  return Object.fromEntries(workers.map((agent, at) => [agent, done[at] ?? []]));
}

if (process.argv[1] === import.meta.filename) {
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL === undefined) throw new Error("set DATABASE_URL to postgres://user:password@host:5432/database");
  console.log(await share(DATABASE_URL));
}
