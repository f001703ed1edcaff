import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { ConnectionOptions, SecureContext } from "node:tls";
import { ToolError } from "@toolhaft/core";
import { canonicalAddress } from "./address.ts";
import { type Deadline, underSignal } from "./deadline.ts";
import type { AddressPolicy } from "./policy.ts";
import type { OutgoingProxy } from "./proxy-out.ts";
import { systemResolve } from "./resolve.ts";
import type { Answer, Dial, NetOptions, Note } from "./types.ts";
import type { ParsedUrl } from "./url.ts";

/** RFC 8305 calls it the connection attempt delay. */
const attemptDelayMs = 250;

/** A connection that passed the policy, ready for HTTP. */
export interface Opened {
  socket: Socket;
  notes: readonly Note[];
  /** The origin is reached through a forwarding proxy: requests carry the whole URL and these headers. */
  forward?: Readonly<Record<string, string>>;
}

export interface Connector {
  /** Look-up, check, connection, TLS. */
  open(target: ParsedUrl, deadline: Deadline): Promise<Opened>;
  /** The same without TLS: the bytes belong to somebody else. */
  tunnel(target: ParsedUrl, deadline: Deadline): Promise<Opened>;
}

/** Opens a TCP connection and compares its peer with the address that was checked, before a byte is sent. */
export const defaultDial: Dial = ({ address, port, family }, signal) =>
  new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, port, family });
    const finish = (error?: Error): void => {
      signal.removeEventListener("abort", onAbort);
      socket.removeListener("error", finish);
      if (error === undefined) {
        resolve(socket);
      } else {
        socket.on("error", () => undefined).destroy();
        reject(error);
      }
    };
    const onAbort = (): void => finish(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", finish);
    socket.once("connect", () => {
      const peer = canonicalAddress(socket.remoteAddress ?? "");
      finish(
        peer === canonicalAddress(address) ? undefined : new Error("the peer is not the address that was checked"),
      );
    });
  });

/** Dials checked addresses in turn, a quarter of a second apart; the first that answers wins. */
export function dialInTurn(answers: readonly Answer[], port: number, dial: Dial, signal: AbortSignal): Promise<Socket> {
  const attempts = new Set<AbortController>();
  const stop = (except?: AbortController): void => {
    for (const attempt of attempts) if (attempt !== except) attempt.abort(new Error("another address answered first"));
  };
  let next = 0;
  let settled = false;
  const work = new Promise<Socket>((resolve, reject) => {
    const start = (): void => {
      const answer = answers[next];
      if (settled || answer === undefined || signal.aborted) return;
      next += 1;
      const attempt = new AbortController();
      attempts.add(attempt);
      const timer = setTimeout(start, attemptDelayMs);
      dial({ ...answer, port }, attempt.signal).then(
        (socket) => {
          clearTimeout(timer);
          attempts.delete(attempt);
          if (settled || signal.aborted) return void socket.on("error", () => undefined).destroy();
          settled = true;
          stop(attempt);
          resolve(socket);
        },
        (error) => {
          clearTimeout(timer);
          attempts.delete(attempt);
          if (next < answers.length) return start();
          if (attempts.size === 0) reject(error);
        },
      );
    };
    start();
  });
  return underSignal(work, signal).finally(() => {
    settled = true;
    stop();
  });
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

export function createConnector(
  options: Pick<NetOptions, "resolve" | "dial" | "ca">,
  policy: AddressPolicy,
  proxy: OutgoingProxy,
): Connector {
  const resolve = options.resolve ?? systemResolve;
  const dial = options.dial ?? defaultDial;
  let context: SecureContext | undefined;

  async function lookUp(target: ParsedUrl, deadline: Deadline): Promise<readonly Answer[]> {
    if (target.isAddress) return [{ address: target.host, family: isIP(target.host) === 6 ? 6 : 4 }];
    deadline.enter("the DNS server");
    return underSignal(resolve(target.host, deadline.signal), deadline.signal);
  }

  async function checked(target: ParsedUrl, deadline: Deadline): Promise<readonly Answer[]> {
    const answers = await lookUp(target, deadline);
    if (answers.length === 0) {
      throw new ToolError("not_found", `the host ${target.host} does not exist`, {
        hint: "check the spelling, or look for the site with web_search",
      });
    }
    return policy.admit(target, answers);
  }

  async function secure(socket: Socket, target: ParsedUrl, deadline: Deadline): Promise<Socket> {
    deadline.enter("the TLS handshake");
    const tls = await import("node:tls");
    const own = options.ca === undefined ? undefined : [...tls.rootCertificates, ...[options.ca].flat()];
    context ??= tls.createSecureContext(own === undefined ? {} : { ca: own });
    const settings: ConnectionOptions = {
      socket,
      host: target.host,
      servername: target.isAddress ? "" : target.host,
      secureContext: context,
      ALPNProtocols: ["http/1.1"],
      // Said here because an environment variable could otherwise switch the check off.
      rejectUnauthorized: true,
    };
    const secured = tls.connect(settings);
    const work = new Promise<Socket>((ready, reject) => {
      secured.once("secureConnect", () => ready(secured));
      secured.once("error", reject);
      secured.once("close", () => reject(new Error("the connection was closed")));
    });
    try {
      return await underSignal(work, deadline.signal);
    } catch (error) {
      secured.on("error", () => undefined).destroy();
      socket.destroy();
      deadline.throwIfEnded();
      const reason = error instanceof Error ? error.message : String(error);
      throw new ToolError("upstream", `no trustworthy TLS connection to ${target.host}: ${codeOf(error) || reason}`, {
        hint: "the certificate or the TLS setup of the site is wrong; a private authority is added with options.net.ca",
        details: { tls: codeOf(error) || "failed" },
        cause: error,
      });
    }
  }

  async function direct(target: ParsedUrl, deadline: Deadline): Promise<Socket> {
    const answers = await checked(target, deadline);
    deadline.enter("the connection");
    try {
      return await dialInTurn(answers, target.port, dial, deadline.signal);
    } catch (error) {
      deadline.throwIfEnded();
      if (error instanceof ToolError) throw error;
      throw new ToolError("upstream", `no connection to ${target.host}:${target.port} (${codeOf(error) || "failed"})`, {
        ...(proxy.unused
          ? { hint: 'this machine names a proxy in its environment: use options.net.proxy "environment"' }
          : {}),
        details: { connect: codeOf(error) || "failed" },
        cause: error,
      });
    }
  }

  /** Behind a proxy the name is resolved there; what can be known here is still checked. */
  async function preview(target: ParsedUrl, deadline: Deadline): Promise<readonly Note[]> {
    let answers: readonly Answer[] = [];
    try {
      answers = await lookUp(target, deadline);
    } catch (error) {
      if (deadline.signal.aborted || !(error instanceof ToolError)) throw error;
    }
    if (answers.length > 0) {
      policy.admit(target, answers);
      return [];
    }
    return [{ code: "resolved_by_proxy", message: `${target.host} was resolved by the proxy, not here` }];
  }

  async function reach(target: ParsedUrl, deadline: Deadline, tunnelled: boolean): Promise<Opened> {
    const via = proxy.choose(target);
    if (via === undefined) return { socket: await direct(target, deadline), notes: [] };
    const notes = await preview(target, deadline);
    deadline.enter("the proxy");
    const socket = await via.dial(deadline);
    if (!tunnelled) return { socket, notes, forward: via.headers };
    return { socket: await via.connect(socket, target, deadline), notes };
  }

  return {
    async open(target, deadline) {
      const isTls = target.url.protocol === "https:";
      const opened = await reach(target, deadline, isTls);
      return isTls ? { ...opened, socket: await secure(opened.socket, target, deadline) } : opened;
    },
    tunnel: (target, deadline) => reach(target, deadline, true),
  };
}
