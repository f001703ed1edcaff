import type { Loss } from "./loss.ts";
import type { Registrations } from "./registrations.ts";
import type { Requests } from "./requests.ts";
import { pause } from "./waiting.ts";

const quietMs = 250;
const lookEveryMs = 50;

export interface RegistrationWaits {
  /** Resolves when registrations that follow the start have most likely all come. */
  settled(): Promise<void>;
  /** The same for servers that register once a document is open. */
  afterOpen(): Promise<void>;
}

/** Nothing in the protocol says that the last registration has come: an answer has to do, and some quiet after it. */
export function createRegistrationWaits(site: {
  registrations: Registrations;
  requests: Requests;
  loss(): Loss | undefined;
  readyMs: number;
}): RegistrationWaits {
  const { registrations } = site;
  let settling: Promise<void> | undefined;
  let opening: Promise<void> | undefined;
  return {
    settled() {
      settling ??= (async () => {
        // servers register before they answer what was sent after `initialized`, or soon after
        const options = { timeoutMs: 5_000, retry: false };
        await site.requests.request("$/toolhaft/settled", null, options).catch(() => {});
        const quietSince = performance.now();
        for (;;) {
          const quiet = performance.now() - Math.max(quietSince, registrations.changedAt);
          if (quiet >= quietMs || site.loss()) return;
          await pause(quietMs - quiet);
        }
      })();
      return settling;
    },
    afterOpen() {
      opening ??= (async () => {
        const from = performance.now();
        while (performance.now() - from < site.readyMs && !site.loss()) {
          const quiet = performance.now() - registrations.changedAt;
          if (registrations.servesDocuments && quiet >= quietMs) return;
          await pause(lookEveryMs);
        }
      })();
      return opening;
    },
  };
}
