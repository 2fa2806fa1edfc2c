import type { Journal } from "@durable-payments/journal";
import { toApplicationFailure } from "./failures.ts";
import { type PaymentsRuntime, runInActivity } from "./run-operation.ts";

/** Tries what a worker needs before it is given runs. */
export interface WorkerCheckActivities {
  /**
   * Signs in, asks the service whether it accepts that, and writes a lag of nothing into the journal, which
   * changes nothing that the journal knows. It moves no money.
   */
  readonly checkWorkerNeeds: () => Promise<void>;
}

/** The activity by which a new version of a worker is tried. */
export const makeWorkerCheckActivities = (
  runtime: PaymentsRuntime,
  journal: Journal,
): WorkerCheckActivities => ({
  checkWorkerNeeds: async () => {
    await runInActivity(
      runtime,
      (client) => client.ping(),
      // A refused key may be replaced meanwhile.
      (error) => toApplicationFailure(error, { nonRetryable: false }),
    );
    await journal.noteListLag("listPayouts", 0);
  },
});
