import { createSocket } from "node:dgram";
import packet from "dns-packet";

/** What a name answers: addresses, no such name, nothing at all, or one list after another. */
export type ZoneEntry =
  | readonly string[]
  | "nxdomain"
  | "silent"
  | { cname: readonly string[]; addresses: readonly string[] }
  | ((query: { name: string; type: "A" | "AAAA"; count: number }) => readonly string[]);

export interface DnsServer {
  /** `127.0.0.1:port` */
  address: string;
  /** Name by name, in lower case; `*.pub` stands for every name below. */
  zone: Map<string, ZoneEntry>;
  queries: { name: string; type: string }[];
  close(): Promise<void>;
}

/** A DNS server over UDP on loopback. Every answer has a time to live of 0. */
export async function startDnsServer(zone: Iterable<readonly [string, ZoneEntry]> = []): Promise<DnsServer> {
  const names = new Map<string, ZoneEntry>(zone);
  const counts = new Map<string, number>();
  const queries: DnsServer["queries"] = [];
  const socket = createSocket("udp4");

  function entryFor(name: string): ZoneEntry | undefined {
    const own = names.get(name);
    if (own !== undefined) return own;
    const wild = [...names.keys()].filter((key) => key.startsWith("*.") && name.endsWith(key.slice(1)));
    return wild[0] === undefined ? undefined : names.get(wild[0]);
  }

  socket.on("message", (message, from) => {
    const query = packet.decode(message);
    const question = query.questions?.[0];
    if (question === undefined) return;
    const name = question.name.toLowerCase();
    const type = question.type === "AAAA" ? "AAAA" : "A";
    queries.push({ name, type });
    const key = `${name} ${type}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const entry = entryFor(name);
    if (entry === "silent") return;
    const answers: packet.Answer[] = [];
    let owner = question.name;
    let addresses: readonly string[] = [];
    if (typeof entry === "function") addresses = entry({ name, type, count });
    else if (Array.isArray(entry)) addresses = entry;
    else if (typeof entry === "object" && "cname" in entry) {
      for (const alias of entry.cname) {
        answers.push({ type: "CNAME", name: owner, data: alias, ttl: 0 });
        owner = alias;
      }
      addresses = entry.addresses;
    }
    for (const address of addresses) {
      const family = address.includes(":") ? "AAAA" : "A";
      if (family === type) answers.push({ type, name: owner, data: address, ttl: 0 });
    }
    const missing = entry === undefined || entry === "nxdomain";
    const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | (missing ? 3 : 0);
    const reply = packet.encode({ type: "response", id: query.id ?? 0, flags, questions: [question], answers });
    socket.send(reply, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zone: names,
    queries,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
