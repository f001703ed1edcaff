import type { ChangeHint } from "@toolhaft/tasks";
import type { Transaction } from "../database.ts";
import type { Tally } from "./tally.ts";

/** What a job of a transaction is given. */
export interface WriteJob {
  db: Transaction;
  /** Written before the transaction ends. */
  tally: Tally;
  /** Told to listeners once the transaction is there. */
  hint(hint: ChangeHint): void;
}
