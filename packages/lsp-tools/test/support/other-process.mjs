// changes files as told, one JSON line each, and answers when it is done: the hand of somebody else
import { rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  for (const [path, text] of Object.entries(JSON.parse(line))) {
    if (text === null) rmSync(path);
    else writeFileSync(path, text);
  }
  console.log("done");
}
