import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import type { Client } from "@temporalio/client";
import { setTimeout } from "node:timers/promises";
import { startPayment } from "../../src/actions/start.ts";
import { operationsOn } from "./stub-client.ts";

/** One start: equal amounts are equal payments. */
export interface StartRequest {
  readonly key: string;
  readonly amount: string;
  /** Temporal takes the start, and its answer never arrives. */
  readonly isSilent?: boolean;
}

/** What a process reports once it has started or refused all requests, or Temporal is silent. */
export interface StartReport {
  /** Ids of the starts that Temporal was asked for. */
  readonly asked: ReadonlyArray<string>;
  readonly refused: ReadonlyArray<string>;
}

/** Time that Temporal takes for a start, in which others overlap. */
const TEMPORAL_MS = 50;

const ledger = await openLedger(readLedgerPlace(process.argv[2], ""));
const { operations } = operationsOn(ledger);
const asked: Array<string> = [];
const report = (...refused: ReadonlyArray<string>) =>
  process.send?.({ asked, refused } satisfies StartReport);

const begin = ({ amount, isSilent = false, key }: StartRequest) => {
  const start = async (_: string, { workflowId }: { readonly workflowId: string }) => {
    asked.push(workflowId);
    if (isSilent) {
      report();
      await Promise.withResolvers().promise;
    }
    await setTimeout(TEMPORAL_MS);
    return { firstExecutionRunId: "run-1" };
  };
  // It knows no run, and `start` is all that is called of its workflows.
  const { options: of, workflowService } = operations.client;
  const client = { workflow: { start }, workflowService, options: of } as unknown as Client;
  const args: [object] = [{ beneficiary_id: "b-1", amount, currency: "EUR" }];
  const options = { key, startedBy: "ada", args, ledger };
  return startPayment<(invoice: object) => Promise<void>>(client, "payInvoice", options);
};

// Starts payments as a program does, which the test may kill.
process.on("message", async (requests: ReadonlyArray<StartRequest>) => {
  const outcomes = await Promise.allSettled(requests.map(begin));
  report(...outcomes.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : [])));
});
report();
