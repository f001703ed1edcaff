import { descendants, identify, type ProcessHost } from "@toolhaft/process";

/** Takes over what a program has started outside its group, a daemon that serves several clients: it goes with us. */
export async function adoptDaemons(host: ProcessHost, pid: number): Promise<(() => Promise<void>)[]> {
  const stops: (() => Promise<void>)[] = [];
  for (const one of await descendants(pid)) if (await leadsGroup(one.pid)) stops.push(host.adopt(one));
  return stops;
}

async function leadsGroup(pid: number): Promise<boolean> {
  if (process.platform === "win32" || (await identify(pid)) === undefined) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false; // no such group: it is a member of another one
  }
}
