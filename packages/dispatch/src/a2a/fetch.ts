import type { Net, NetOptions } from "@toolhaft/net";

/** Longest life of one answer, in milliseconds: a stream lives as long as the work; the task's own limits end it before. */
const longest = 7 * 24 * 3_600_000;
const maxBytes = 256 * 1024 * 1024;

/** What the protocol's library calls in place of the runtime's `fetch`. */
export interface Http extends AsyncDisposable {
  fetch: typeof fetch;
}

/** `fetch` over `@toolhaft/net`: every connection passes the address policy, and redirects do. */
export async function netHttp(options: NetOptions | undefined): Promise<Http> {
  const { createNet } = await import("@toolhaft/net");
  // One agent is asked by as many runs as there are slots, and each may hold a stream open.
  const net = createNet({ minIntervalMs: 0, maxConnectionsPerOrigin: 128, ...options });
  return {
    fetch: (input, init) => request(net, input, init),
    async [Symbol.asyncDispose]() {
      await net.close();
    },
  };
}

async function request(net: Net, input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const asked = new Request(input, init);
  const method = asked.method;
  const body = method === "GET" || method === "HEAD" ? undefined : new Uint8Array(await asked.arrayBuffer());
  const answer = await net.request(
    {
      url: asked.url,
      method,
      headers: Object.fromEntries(asked.headers),
      ...(body !== undefined && { body }),
      timeoutMs: longest,
      headersTimeoutMs: 60_000,
      maxBytes,
      retry: { attempts: 1 },
    },
    init.signal ? { signal: init.signal } : {},
  );
  const empty = method === "HEAD" || [204, 205, 304].includes(answer.status);
  return new Response(empty ? null : streamOf(answer.body), {
    status: answer.status,
    statusText: answer.statusText,
    headers: [...answer.headers].filter(([name]) => name !== "content-encoding" && name !== "content-length"),
  });
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return?.();
    },
  });
}

/** The same with more headers for one origin, so that what belongs to it goes nowhere else. */
export function withHeaders(
  base: typeof fetch,
  origin: () => string | undefined,
  headers: () => Promise<Readonly<Record<string, string>>>,
): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin()) return base(input, init);
    const merged = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    for (const [name, value] of Object.entries(await headers())) merged.set(name, value);
    return base(input, { ...init, headers: merged });
  };
}
