import { createClient } from "@durable-payments/client";
import { createPaymentsTest } from "@durable-payments/testing";
import { payout } from "@durable-payments/workflows";
import type { BenchContext } from "./rounds.ts";
import { NO_MORE, type Row, rowOf } from "./row.ts";
import { beneficiary, payoutInput } from "./workflows/inputs.ts";

/*
 * The cost of a lost response in an account with a hundred, a million and ten million payouts: requests for the list, and
 * the time until the outcome is known. Time is skipped: by the clocks of the server, the service and the ledger. The
 * baselines are the promised number of requests, and the time in the smallest account.
 *
 * The cost follows the payouts since the edge of the window. So the account has been quiet for days, but for ours; and
 * once it continues to pay, one every three seconds, which makes ten million a year.
 */

const SIZES = [100, 1_000_000, 10_000_000];
const EVERY_MS = 3_000;
const REQUESTS = "requests for the list";
const MOST_REQUESTS = 3;
const BUSY_MS = 40 * 86_400_000;

interface Lost {
  readonly requests: number;
  readonly seconds: number;
}

/** Loses a response of an account that has paid so often, the last time at `until`. */
const lose = async (
  payouts: number,
  fault: "dropped" | "dropped-before",
  until: number,
): Promise<Lost> => {
  const backlog = { payouts, everyMs: EVERY_MS, until };
  // They settle soon, so that the tracker reads few of them, one by one.
  const test = await createPaymentsTest({ simulator: { settleAfter: "20 seconds", backlog } });
  try {
    const { apiKey, clientId, url: baseUrl } = test.simulator;
    const client = createClient({ apiKey, baseUrl, clientId });
    const { beneficiary_id } = await client.createBeneficiary(beneficiary);
    await client.close();
    const pay = async (name: string) => {
      const workflowId = `${name} ${payouts}`;
      await test.start(payout, [payoutInput(beneficiary_id, workflowId)], { workflowId });
      await test.sleep("10 seconds");
      // On a slow machine, the fault would be another payout's, or the ledger would know fewer of them than it shall.
      const isSent = async () =>
        (await test.ledger.rowsOf(workflowId)).some(({ state }) => /done|unknown/.test(state));
      while (!(await isSent())) await test.sleep("1 second");
      return workflowId;
    };
    const listed = async () => (await test.service()).requests["listPayouts"] ?? 0;
    // Known payouts: some of days before, some of now, and some that follow.
    for (const name of ["a", "b", "c", "d"]) await pay(name);
    await test.sleep("2 days");
    await pay("edge");
    await test.sleep("20 minutes");
    for (const name of ["e", "f", "g"]) await pay(name);
    const before = await listed();
    await test.fault(fault, { operation: "createPayout" });
    const lost = await pay("lost");
    await test.sleep("30 seconds");
    for (const name of ["h", "i", "j"]) await pay(name);
    // Until shortly before the lag is over. The ledger of a test learns only after each step that time was skipped.
    await test.sleep("118 seconds");
    for (let second = 0; second < 12; second++) await test.sleep("1 second");
    await test.sleep("5 minutes");
    const [row] = await test.ledger.rowsOf(lost);
    if (row?.state !== "done") throw new Error(`The payout is ${row?.state}: ${row?.message}`);
    return {
      requests: (await listed()) - before,
      seconds: (row.changedAt - row.createdAt) / 1_000,
    };
  } finally {
    await test.dispose();
  }
};

/** A lost response whose payout was made, and one whose payout was not. */
export const measureLost = async ({
  progress,
  quick,
  signal,
}: BenchContext): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = [];
  for (const [fault, title] of [
    ["dropped", "was made"],
    ["dropped-before", "was not made"],
  ] as const) {
    let first: Lost | undefined;
    for (const payouts of SIZES) {
      signal.throwIfAborted();
      const name = `a payout that ${title}, ${payouts.toLocaleString("en")} payouts`;
      progress(name);
      const lost = await lose(payouts, fault, Date.now());
      first ??= lost;
      const seconds = [lost.seconds, Math.max(1, first.seconds)] as const;
      rows.push(
        rowOf(name, REQUESTS, [lost.requests, MOST_REQUESTS], NO_MORE),
        rowOf(name, "seconds", seconds, { atMost: 1.1 }),
      );
    }
  }
  if (quick) return rows;
  progress("an account that continues to pay");
  const { requests } = await lose(SIZES.at(-1) ?? 0, "dropped-before", Date.now() + BUSY_MS);
  const name = "a payout that was not made, 10,000,000 payouts, one every 3 s";
  return [...rows, rowOf(name, REQUESTS, [requests, MOST_REQUESTS])];
};
