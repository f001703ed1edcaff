import { budgetCases } from "./contract/budgets.ts";
import { claimCases } from "./contract/claims.ts";
import { edgeCases } from "./contract/edges.ts";
import { historyCases } from "./contract/history.ts";
import { noticeCases } from "./contract/notices.ts";
import { type ContractCase, type OpenStore, withStore } from "./contract/setting.ts";

export type { ContractCase, OpenStore, StoreUnderTest } from "./contract/setting.ts";

/** What every adapter of the ports promises, as cases for any test runner. */
export function taskBackendContract(): readonly ContractCase[] {
  return [...edgeCases(), ...claimCases(), ...noticeCases(), ...budgetCases(), ...historyCases()];
}

/**
 * Registers the contract with a test runner.
 *
 * @example
 * runTaskBackendContract(openStore, it);
 */
export function runTaskBackendContract(
  open: OpenStore,
  register: (title: string, run: () => Promise<void>) => unknown,
): void {
  for (const { title, run } of taskBackendContract()) register(title, () => withStore(open, run));
}
