import { describeHost, type Host } from "../test/conformance.ts";
import { everyFamilyTool } from "../test/families.ts";

const { hosts }: { hosts: readonly Host[] } = await import(`./${process.env.TOOLHAFT_HOST}/host.ts`);

for (const host of hosts) describeHost(host, everyFamilyTool);
