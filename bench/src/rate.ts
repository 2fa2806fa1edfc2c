import type { ServiceBooks } from "@durable-payments/simulator";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "./child.ts";
import type { BenchContext } from "./rounds.ts";
import { type Row, rowOf } from "./row.ts";
import type { RunsReading, RunsTask } from "./workflows/worker-process.ts";
import { startService, startTemporal } from "./workflows/world.ts";

/*
 * Payouts that are started together, at a service that refuses all but a few requests a second: how much of the limit do the
 * workers of an account use, and how often are they refused? Both count until the last payout is made.
 */

const PER_SECOND = 5;

const measure = async (
  workers: number,
  payouts: number,
  address: string,
  context: BenchContext,
): Promise<ReadonlyArray<Row>> => {
  const title = `${payouts} payouts at ${PER_SECOND} requests a second, workers: ${workers}`;
  const env = await startService(context, { requestsPerSecond: PER_SECOND });
  const args = ["ours", address, `bench-rate-${workers}`];
  const start = () =>
    startChild<RunsTask, RunsReading>("workflows/worker-process.ts", args, context, env);
  const [first] = await Promise.all(Array.from({ length: workers }, start));
  const read = async () => {
    const url = new URL("/_simulator/state", env.PAYMENTS_BASE_URL);
    // The simulator declares its state.
    const books = (await (await fetch(url)).json()) as ServiceBooks;
    const { payouts: made, rate_limited, requests } = books;
    const all = Object.values(requests).reduce((sum, one) => sum + one, 0);
    return { made: made.length, refused: rate_limited, served: all - rate_limited };
  };
  const before = await read();
  const began = performance.now();
  await first?.({ kind: "start", workflow: "payout", count: payouts, concurrency: 16 });
  let now = before;
  for (let second = 0; now.made < payouts; second++) {
    context.signal.throwIfAborted();
    await sleep(1_000);
    now = await read();
    if (second % 10 === 0) context.progress(`${title}: ${now.made} made, ${now.refused} refused`);
  }
  const perSecond = (1_000 * (now.served - before.served)) / (performance.now() - began);
  const refused = now.refused - before.refused;
  return [
    rowOf(title, "requests served a second", [perSecond, PER_SECOND], { atLeast: 0.8 }),
    rowOf(title, "requests refused, and payouts", [refused, payouts], { atMost: 0.2 }),
  ];
};

/** The use of a rate limit by one worker and by two. The baselines are the limit, and the number of payouts. */
export const measureRate = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const address = await startTemporal(context);
  const payouts = context.quick ? 60 : 300;
  return [
    ...(await measure(1, payouts, address, context)),
    ...(await measure(2, payouts, address, context)),
  ];
};
