import { lookup, Resolver } from "node:dns/promises";
import { ToolError } from "@toolhaft/core";
import { underSignal } from "./deadline.ts";
import type { Answer, Resolve } from "./types.ts";

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

const nothingThere: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "EAI_NONAME", "EAI_NODATA", "EBADNAME"]);

function failed(host: string, error: unknown): ToolError {
  return new ToolError("unavailable", `looking up ${host} failed (${codeOf(error) || "no code"})`, {
    hint: "check the network and the DNS server, then try again",
    retryable: true,
    cause: error,
  });
}

/** The system's own look-up, which knows the hosts file and a VPN's names. */
export const systemResolve: Resolve = async (host, signal) => {
  try {
    const found = await underSignal(lookup(host, { all: true, verbatim: true }), signal);
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (nothingThere.has(codeOf(error))) return [];
    throw failed(host, error);
  }
};

/**
 * Asks these DNS servers, A and AAAA together, without the hosts file.
 *
 * @param options.servers - addresses with optional port: `"127.0.0.1:5353"`, `"[::1]:53"`
 */
export function dnsResolver(options: { servers: readonly string[] }): Resolve {
  return async (host, signal) => {
    // One resolver for each look-up, so that an abort cancels this look-up only.
    const resolver = new Resolver({ timeout: 5_000, tries: 2 });
    resolver.setServers(options.servers);
    const both = Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    let settled: Awaited<typeof both>;
    try {
      settled = await underSignal(both, signal);
    } finally {
      if (signal.aborted) resolver.cancel();
    }
    const answers = settled.flatMap((result, index): Answer[] =>
      result.status === "fulfilled" ? result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    if (answers.length > 0) return answers;
    const bad = settled.find((result) => result.status === "rejected" && !nothingThere.has(codeOf(result.reason)));
    if (bad?.status === "rejected") throw failed(host, bad.reason);
    return [];
  };
}
