/** A provider that answers each request from a script, and keeps what it was asked. */
export interface ScriptedProvider {
  fetch: typeof fetch;
  requests: Record<string, unknown>[];
}

/** @param answer The body for a request; gets the request's own body. */
export function scriptedProvider(answer: (body: Record<string, unknown>) => unknown): ScriptedProvider {
  const requests: Record<string, unknown>[] = [];
  return {
    requests,
    fetch: async (input, init) => {
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
      signal?.throwIfAborted();
      const text = input instanceof Request ? await input.text() : String(init?.body ?? "{}");
      const body: Record<string, unknown> = JSON.parse(text);
      requests.push(body);
      return new Response(JSON.stringify(answer(body)), { headers: { "content-type": "application/json" } });
    },
  };
}

/** JSON text as providers that send objects would have read it; what is no JSON stays text. */
export function objectOf(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
