import { forkingCases } from "./contract/forking.ts";
import { listingCases } from "./contract/listing.ts";
import { readingCases } from "./contract/reading.ts";
import { recordingCases } from "./contract/recording.ts";
import { searchingCases } from "./contract/searching.ts";
import { type ContractCase, type OpenStore, withStore } from "./contract/setting.ts";

export type { ContractCase, OpenStore, RecordingStore, StoreUnderTest } from "./contract/setting.ts";

/** What every store that sessions are recorded into promises, as cases for any test runner. */
export function sessionStoreContract(): readonly ContractCase[] {
  return [...recordingCases(), ...readingCases(), ...listingCases(), ...searchingCases(), ...forkingCases()];
}

/**
 * Registers the contract with a test runner.
 *
 * @example
 * runSessionStoreContract(openStore, it);
 */
export function runSessionStoreContract(
  open: OpenStore,
  register: (title: string, run: () => Promise<void>) => unknown,
): void {
  for (const { title, run } of sessionStoreContract()) register(title, () => withStore(open, run));
}
