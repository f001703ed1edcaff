import type { ServerEntry } from "../entry.ts";
import type { ServerLife } from "../server.ts";

export interface VueBridge {
  notification(life: ServerLife, method: string, params: unknown): void;
}

/**
 * The Vue server answers nothing before its TypeScript questions are answered: `tsserver/request` `[id, command, args]`
 * goes to the TypeScript server as a command and comes back as `tsserver/response` `[id, body]`. A side that is missing
 * is answered with `null`, so that nothing hangs.
 */
export function createVueBridge(entries: () => readonly ServerEntry[]): VueBridge {
  const partnerOf = (life: ServerLife): ServerLife | undefined => {
    const id = life.definition.partner?.id;
    const candidates = entries().filter((entry) => entry.id === id && entry.life);
    const nearest = candidates.sort((a, b) => common(b.root, life.root) - common(a.root, life.root))[0];
    return nearest?.life;
  };
  const ask = async (partner: ServerLife | undefined, command: unknown, args: unknown): Promise<unknown> => {
    if (!partner) return null;
    const answer = await partner
      .request<{ body?: unknown } | null>(
        "workspace/executeCommand",
        { command: "typescript.tsserverRequest", arguments: [command, args] },
        { timeoutMs: partner.timeouts.slow, retry: false },
      )
      .catch(() => null);
    return answer?.body ?? null;
  };
  return {
    notification(life, method, params) {
      if (method !== "tsserver/request" || !life.definition.bridges?.includes("vue")) return;
      const requests = Array.isArray(params) && Array.isArray(params[0]) ? params : [params];
      for (const request of requests) {
        if (!Array.isArray(request)) continue;
        const [id, command, args] = request as unknown[];
        void ask(partnerOf(life), command, args).then((body) => life.notify("tsserver/response", [id, body]));
      }
    },
  };
}

function common(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
