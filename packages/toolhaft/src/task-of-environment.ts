import type { Io } from "./io.ts";

/** The task that this program's caller works on, as a dispatcher tells the programs it starts; one name alone is none. */
export function taskOfEnvironment({ env }: Pick<Io, "env">): { task?: { id: string; token: string } } {
  const { TOOLHAFT_TASK: id, TOOLHAFT_TASK_TOKEN: token } = env;
  return id && token ? { task: { id, token } } : {};
}
