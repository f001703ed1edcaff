import type { ChangeHint } from "@toolhaft/tasks";
import type { Transaction } from "../database.ts";

/** What a job of a transaction is given. */
export interface WriteJob {
  db: Transaction;
  /** Told to listeners once the transaction is there. */
  hint(hint: ChangeHint): void;
}
