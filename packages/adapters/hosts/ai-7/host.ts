import type { Host } from "../../test/conformance.ts";
import { runAiSdk } from "../../test/hosts/ai-sdk.ts";

/** The same loop as version 6, on the libraries of this folder; it takes models of the provider contract before its own, too. */
export const hosts: readonly Host[] = [
  { name: "the AI SDK 7", lost: ["cutInput"], asks: "before", run: (turn) => runAiSdk(turn) },
];
