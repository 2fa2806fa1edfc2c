import type { Ledger } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { Result } from "effect";
import { notYet, type PaymentsRuntime, runCall } from "./run-operation.ts";

/** Tries what a worker needs before it is given runs. */
export interface WorkerCheckActivities {
  /** Signs in, asks the service whether it accepts that, and reads the ledger. Moves no money. */
  readonly checkWorker: () => Promise<void>;
}

/** Whatever fails may be mended meanwhile: a key, a network, a database. */
const AGAIN_AFTER_MS = 2_000;

/** Makes the activity by which a new version of a worker is tried. */
export const makeWorkerCheckActivities = (
  runtime: PaymentsRuntime,
  ledger: Ledger,
): WorkerCheckActivities => ({
  checkWorker: async () => {
    const { cancellationSignal } = Context.current();
    const result = await runCall(runtime, (client) => client.ping(), cancellationSignal);
    if (Result.isFailure(result)) throw notYet(result.failure.message, AGAIN_AFTER_MS);
    try {
      await ledger.mark();
    } catch (error) {
      throw notYet(temporalReason(error), AGAIN_AFTER_MS);
    }
  },
});
