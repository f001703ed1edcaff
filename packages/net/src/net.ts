import { systemClock, ToolError } from "@toolhaft/core";
import { createConnector } from "./connect.ts";
import { type Deadline, startDeadline, underSignal } from "./deadline.ts";
import { openFilteringProxy } from "./filtering-proxy.ts";
import { createPace } from "./pace.ts";
import { createAddressPolicy, toCheckedUrl } from "./policy.ts";
import { createPool } from "./pool.ts";
import { createOutgoingProxy } from "./proxy-out.ts";
import { createRequester } from "./request.ts";
import type { FilteringProxy, Net, NetOptions, NetScope, ProxyOptions } from "./types.ts";

/**
 * A guarded HTTP client. Making one opens nothing.
 *
 * @throws TypeError for an option that cannot be read
 * @example
 * const net = createNet({ allow: ["localhost:3000"] });
 * const response = await net.request({ url: "https://example.org/" }, {});
 * const text = new TextDecoder().decode(await response.bytes());
 * await net.close();
 */
export function createNet(options: NetOptions = {}): Net {
  const clock = options.clock ?? systemClock;
  const policy = createAddressPolicy(options);
  const proxy = createOutgoingProxy(options.proxy);
  const connector = createConnector(options, policy, proxy);
  const pool = createPool(connector, options.maxConnectionsPerOrigin ?? 6);
  const running = new Set<Deadline>();
  const proxies = new Set<FilteringProxy>();
  let closed = false;

  function track(ms: number, scope: NetScope, what: string): Deadline {
    if (closed) throw new ToolError("unavailable", "the HTTP client is closed");
    const deadline = startDeadline(ms, scope.signal, what, (ended) => running.delete(ended));
    running.add(deadline);
    return deadline;
  }

  const request = createRequester({
    options,
    clock,
    policy,
    pool,
    pace: createPace(clock),
    proxyHost: proxy.host,
    track,
  });

  async function openProxy(scope: NetScope, proxyOptions: ProxyOptions = {}): Promise<FilteringProxy> {
    if (closed) throw new ToolError("unavailable", "the HTTP client is closed");
    const opening = openFilteringProxy(
      { connector, policy, scope, onClose: (ended) => proxies.delete(ended) },
      proxyOptions,
    );
    const opened = await (scope.signal === undefined ? opening : underSignal(opening, scope.signal));
    proxies.add(opened);
    return opened;
  }

  async function close(): Promise<void> {
    closed = true;
    for (const deadline of running) deadline.abort(new ToolError("cancelled", "the HTTP client was closed"));
    await Promise.allSettled([...proxies].map((open) => open.close()));
    await pool.close();
    for (const deadline of running) deadline.clear();
    running.clear();
  }

  return {
    check: (url) => toCheckedUrl(policy.check(url)),
    request,
    openProxy,
    close,
    [Symbol.asyncDispose]: close,
  };
}
