import { type AnyTool, type Middleware, resultCap, ToolError, toolset } from "@toolhaft/core";
import type { Place } from "./place.ts";

/** The tools of a session as they are really called: within the server's text limit, and without a folder where there is none. */
export interface Guard {
  over(tool: AnyTool, place: Place): AnyTool;
}

export function createGuard(maxTextChars: number | undefined): Guard {
  const capped = new WeakMap<AnyTool, AnyTool>();
  const homeless = new WeakMap<AnyTool, AnyTool>();
  return {
    over(tool, { workspace }) {
      const middleware = maxTextChars === undefined ? [] : [resultCap({ maxTextChars })];
      if (workspace.missing !== undefined)
        return wrapped(tool, [withoutFolder(workspace.missing), ...middleware], homeless);
      return middleware.length === 0 ? tool : wrapped(tool, middleware, capped);
    },
  };
}

function wrapped(tool: AnyTool, middleware: readonly Middleware[], known: WeakMap<AnyTool, AnyTool>): AnyTool {
  const made = known.get(tool) ?? toolset(tool).wrap(...middleware).tools[0] ?? tool;
  known.set(tool, made);
  return made;
}

/** Whoever looks for the folder learns that there is none; tools that need no files go on. */
function withoutFolder(reason: string): Middleware {
  const missing = {
    enumerable: true,
    get(): never {
      throw new ToolError("unavailable", `no workspace folder: ${reason}`, {
        hint: "start the server with --directory <path>, or open a project folder in the client",
      });
    },
  };
  return (call, next) => {
    const context = Object.defineProperties(
      { ...call.context },
      { directory: missing, worktree: missing, roots: missing },
    );
    return next({ ...call, context });
  };
}
