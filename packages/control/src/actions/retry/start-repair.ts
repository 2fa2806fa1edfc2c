/*
 * Starts a planned repair. The rows are kept before their workflows start, and its id follows from the retries: a person who is
 * interrupted gives the same command again, and continues the same repair.
 */
import type { Batch, Ledger } from "@durable-payments/ledger";
import type { RepairRow } from "@durable-payments/protocol/calls";
import { chunksOf } from "effect/Array";
import { refused } from "../../errors.ts";
import type { Connected } from "../../facts/connection/connections.ts";
import { beginBatch, endUpload, inChunks, OVER, startChunks } from "../batch/chunks.ts";
import { actorOf } from "../decide/record.ts";
import type { planRepair, RepairOptions } from "./repair.ts";

const SAVED_AT_ONCE = 5_000;
const DEFAULT_RATE = 5;

const bytesOf = (row: RepairRow): number => Buffer.byteLength(JSON.stringify(row));

/** Returns the id of a repair: the same for the same retries, so that an interrupted start is continued. */
const idFor = async (ledger: Ledger, content: string): Promise<string> => {
  for (let number = 1; ; number += 1) {
    const id = `repairs/${content.slice(0, 16)}${number === 1 ? "" : `-${number}`}`;
    const before = await ledger.batch(id);
    if (before === undefined || !OVER.has(before.state)) return id;
  }
};

/**
 * Starts a repair: a durable job that retries each run of a plan once. It can be called again after any failure.
 *
 * @param about what the runs have in common, for people.
 * @returns the repair: `needsApproval`, or `approved` if its runs are being retried.
 * @throws NotAllowed if no run can be helped.
 */
export const startRepair = async (
  connected: Connected,
  {
    content,
    needsApproval: asks,
    notHelped: [left],
    rows,
    sums,
  }: Awaited<ReturnType<typeof planRepair>>,
  options: RepairOptions,
  about: string,
): Promise<Batch> => {
  const { ledger } = connected;
  const actor = actorOf(options);
  if (rows.length === 0)
    throw refused(
      `No failed run that matches can be retried. ${left === undefined ? "" : `${left.whyNot} `}Nothing was done.`,
      { action: "list", status: "failed" },
    );
  const id = await idFor(ledger, content);
  const numbered = rows.map(({ input, row }, at) => ({ input, row: { ...row, number: at + 1 } }));
  const retried = numbered.map(({ input, row: { number, run, workflowId } }): RepairRow => ({
    number,
    workflowId,
    run: run ?? "",
    ...(input !== undefined && { input }),
  }));
  const chunks = inChunks(retried, bytesOf);
  const { how, reason } = actor;
  const { notDuplicate } = options;
  const batch = {
    id,
    account: connected.account,
    type: "repair",
    file: about,
    contentHash: content,
    rows: rows.length,
    chunks: chunks.length,
    details: JSON.stringify({ how, reason, notDuplicate }),
  };
  const value = {
    file: about,
    runs: rows.length,
    sums: sums.map((sum) => ({ ...sum })),
    ...(notDuplicate && { notDuplicate }),
  };
  const first = await beginBatch(connected, batch, actor, value);
  if (first.state !== "uploading") return first;
  for (const part of chunksOf(numbered, SAVED_AT_ONCE))
    await ledger.saveRows(
      id,
      part.map(({ row }) => row),
    );
  const mayBe = `${id} may have been started only partly: give the same command again`;
  const { rate = DEFAULT_RATE } = options;
  await startChunks(connected, first, mayBe, chunks, { ...options, rate });
  return endUpload(connected, first, asks ? "needsApproval" : "approved");
};
