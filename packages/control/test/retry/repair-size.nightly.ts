import { openLedger } from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { expect, it, onTestFinished } from "vitest";
import { startRepair } from "../../src/actions/retry/start-repair.ts";
import { plannedRepair } from "../support/repairing.ts";
import { operationsOn } from "../support/stub-client.ts";

/** As many as a repair takes. */
const RUNS = 10_000;

/** Promised; a night's machine is slow, and the figure is printed. */
const WITHIN_MS = 5_000;

it(`${RUNS} failed runs are grouped, and their repair is decided, within five seconds`, async () => {
  const ledger = await openLedger("memory");
  const { operations } = operationsOn(ledger);
  onTestFinished(() => ledger.close());
  const ids = Array.from({ length: RUNS + 1 }, (_, at) => `p-${at}`);
  const start = (workflowId: string) =>
    ledger.recordStart(
      {
        workflowId,
        account: "account-1",
        runId: null,
        type: "payout",
        batch: null,
        batchRow: null,
        amount: "10.00",
        currency: "EUR",
        payee: "mark-1",
        reference: workflowId,
      },
      { by: "ada", how: "--by", value: { type: "payout", content: workflowId } },
    );
  await atOnce(ids, start, 200);
  await ledger.recordEnds(
    ids.map((workflowId, at) => ({
      workflowId,
      runId: `run-${at}`,
      endState: "failed",
      endedAt: at,
      endType: "Refused",
      endStep: "createPayout",
      endReason: `The service refused ${workflowId}.`,
    })),
  );
  const begun = performance.now();
  expect(await ledger.failures({})).toMatchObject([{ runs: RUNS + 1 }]);
  const grouped = performance.now();
  const options = { by: "ada", reason: "outage" };
  const planned = await plannedRepair(operations, options);
  const { id, state } = await startRepair(operations, planned, options, "failed runs");
  const decided = performance.now();
  process.stderr.write(
    `${RUNS} failed runs: grouped in ${Math.round(grouped - begun)} ms, decided in ${Math.round(decided - grouped)} ms\n`,
  );
  expect(state).toBe("approved");
  expect(planned.hasMore).toBe(true);
  expect(await ledger.batchRows(id)).toHaveLength(RUNS);
  expect(decided - begun).toBeLessThan(WITHIN_MS);
}, 120_000);
