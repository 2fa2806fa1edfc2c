import { createHash, randomUUID } from "node:crypto";
import { newRow, openLedger, readLedgerPlace } from "../../src/index.ts";
import { ADA } from "./rows.ts";

/*
 * The room that a payout takes in a ledger: its run, write, wait and log, as starters, workers and the tracker record them.
 * Copies by SQL have no log, so this is measured apart from them. docs/retention.md has the figures.
 */

const PAYOUTS = 5_000;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Makes one payout, from its start to its completion. */
const pay = async (ledger: Awaited<ReturnType<typeof openLedger>>, at: number): Promise<void> => {
  const [workflowId, runId, madeId] = [`payout/invoice-${at}`, randomUUID(), randomUUID()];
  const [account, who] = [hashOf("a").slice(0, 16), "worker 4256"];
  const step = "createPayout";
  const name = { account, workflowId, step };
  const payee = hashOf(`payee ${at % 500}`).slice(0, 36);
  const money = { amount: `${at}.25`, currency: "EUR", payee };
  const terms = hashOf(workflowId);
  const run = { account, workflowId, runId, type: "payout", batch: null, batchRow: null };
  const value = { type: "payout", content: terms, terms, payee, firstRunId: runId };
  const reference = `Invoice ${at}`;
  await ledger.recordStart({ ...run, ...money, reference }, { ...ADA, value });
  const facts = { amount: money.amount, currency: "EUR", beneficiary_id: payee };
  const request = { ...money, reference, hash: terms, terms, paymentDate: "2026-11-27", facts };
  const ids = { ownerId: workflowId, rootId: workflowId, runId };
  const sent = { generation: 1, number: 1, ...money };
  await ledger.transact(name, (look) => ({
    row: {
      ...newRow(look, { ...ids, name, operation: step, request }),
      state: "sending",
      sends: 1,
    },
    entries: [{ who, what: "sending", details: sent }],
  }));
  const result = { payout_id: madeId, short_reference: "P261127-X5GY63Y2", ...facts };
  await ledger.transact(name, ({ row }) => ({
    ...(row && { row: { ...row, state: "done", madeId, result, knownBy: "answer" } }),
    entries: [{ who, what: "done", details: { id: madeId } }],
  }));
  const wait = { account, workflowId, runId, activityId: `awaitPayout:${madeId}` };
  const kind = { kind: "payout", thing: madeId } as const;
  await ledger.openWait({ ...wait, ...kind });
  const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
  await ledger.sawPayout(account, madeId, seen);
  await ledger.closeWaits([{ ...wait, outcome: { outcome: "completed" } }]);
  const end = {
    endState: "succeeded",
    endedAt: Date.now(),
    endType: null,
    endReason: null,
  } as const;
  await ledger.recordEnds([{ workflowId, runId, ...end }]);
};

/**
 * Fills an empty ledger with payouts, and prunes them.
 *
 * @param sizeOf compacts the database, and returns its size in bytes.
 * @returns bytes of each payout before and after the prune.
 */
export const measureSize = async (
  address: string,
  sizeOf: () => Promise<number>,
): Promise<{ readonly made: number; readonly pruned: number }> => {
  // What is watched is not pruned.
  const ledger = await openLedger(readLedgerPlace(address, ""), { watchedForMs: 0 });
  const empty = await sizeOf();
  for (let at = 0; at < PAYOUTS; at += 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => pay(ledger, at + index)));
  const made = await sizeOf();
  await ledger.prune(Date.now() + 60_000, ADA);
  const pruned = await sizeOf();
  await ledger.close();
  return { made: (made - empty) / PAYOUTS, pruned: (pruned - empty) / PAYOUTS };
};
