import type { Refusal } from "@durable-payments/api-core/contract";
import { Effect } from "effect";
import type { LedgerStore, Unit } from "../ledger/ledger-store.ts";

/** Runs a unit of work for an operation that only confirms. */
export const confirm = (
  store: LedgerStore["Service"],
  work: (unit: Unit) => void,
): Effect.Effect<undefined, Refusal> => Effect.as(store.transact(work), undefined);
