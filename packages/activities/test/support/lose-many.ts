import { LedgerUnavailable } from "@durable-payments/ledger";
import type { Attempt } from "../../src/write/guard.ts";
import { beneficiary, payout as withKey } from "./bodies.ts";
import type { SkippedTime } from "./skipped-time.ts";
import { type Ended, makeWorld } from "./writes.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Attempts that a worker makes at once. */
const SLOTS = 100;
const { unique_request_id: _, ...payout } = withKey;

/** The second account has a service with another clock, at which no payout settles for a day. */
const ACCOUNTS = [
  { account: "first", settleAfter: MINUTE, clockOffsetMs: 0 },
  { account: "second", settleAfter: DAY, clockOffsetMs: -7 * HOUR },
] as const;

/** An account that has paid a million times. A whole list has twenty thousand pages, and each reading of one a thousand requests. */
const makeAccount = async (
  { account, clockOffsetMs, settleAfter }: (typeof ACCOUNTS)[number],
  { now, open }: SkippedTime,
  payoutKeys: "echoed" | "dropped",
) => {
  const world = await makeWorld({
    openWith: open,
    simulator: {
      clientId: account,
      balances: { USD: "90000000.00" },
      clock: now,
      settleAfter,
      tokenLifetime: "30 days",
      temperament: { clockOffsetMs, payoutKeys },
      backlog: { payouts: 1_000_000, everyMs: MINUTE, until: Date.now() + clockOffsetMs - DAY },
    },
    settings: { requestTimeoutMs: 30_000, assumptions: { listLagSeconds: 180 } },
  });
  const create = { operation: "createBeneficiary", request: beneficiary };
  const payee = await world.once(create, { workflowId: account });
  if (payee.is !== "done") throw new Error(JSON.stringify(payee));
  const pay = (name: number, attempt: Partial<Attempt> = {}) =>
    world.once(
      {
        operation: "createPayout",
        request: {
          ...payout,
          beneficiary_id: payee.made["beneficiary_id"],
          amount: `${10 + name}.00`,
          payout_reference: `INV-2026-${String(10_000 + name)}`,
        },
      },
      { ...attempt, workflowId: `${account}-${name}` },
    );
  const listed = async () => (await world.simulator.state()).requests["listPayouts"] ?? 0;
  return { ...world, listed, pay };
};

/**
 * Two accounts of one ledger, which pay alike, lose the responses of many payouts at once, half of them made.
 *
 * @returns the figures of each account.
 */
export const loseMany = async (
  payoutKeys: "echoed" | "dropped",
  many: number,
  time: SkippedTime,
) => {
  const made = ACCOUNTS.map((account) => makeAccount(account, time, payoutKeys));
  const accounts = await Promise.all(made);
  // Known payouts, the first of them days old.
  for (const name of [-1, -2, -3, -4]) {
    for (const { pay } of accounts) await pay(name);
    await time.skip(name === -1 ? 2 * DAY : 10_000);
  }
  const names = Array.from({ length: many }, (_one, name) => name);
  const lost = await Promise.all(
    accounts.map(async ({ listed, pay, simulator }) => {
      for (const kind of ["dropped", "dropped-before"] as const)
        await simulator.addFault({ kind, operation: "createPayout", times: many / 2 });
      return { pay, before: await listed(), ends: new Map<number, Ended>() };
    }),
  );
  /** All accounts share the slots, as they share a worker. */
  const all = async (attempt: Partial<Attempt>) => {
    const left = names.flatMap((name) =>
      lost.flatMap((one) =>
        (one.ends.get(name)?.is ?? "wait") === "wait" ? [{ ...one, name }] : [],
      ),
    );
    const slot = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        // Temporal repeats an attempt whose ledger did not answer: a busy machine's does not always.
        try {
          next.ends.set(next.name, await next.pay(next.name, attempt));
        } catch (error) {
          if (!(error instanceof LedgerUnavailable)) throw error;
        }
    };
    await Promise.all(Array.from({ length: SLOTS }, slot));
  };
  await all({});
  // The outage is over. On a busy machine some were not sent in it: their losses would be second ones of others.
  for (const { simulator } of accounts) await simulator.clearFaults();
  for (let attempt = 2; attempt < 8; attempt++) {
    await time.skip(HOUR / 4);
    await all({ attempt, testimony: undefined });
  }
  return Promise.all(
    accounts.map(async ({ account, ledger, listed, simulator }, index) => {
      const questions = await ledger.rows({ account, needsPerson: true, limit: many });
      const { before = 0, ends } = lost[index] ?? {};
      return {
        made: (await simulator.state()).payouts.length - 4,
        done: [...(ends?.values() ?? [])].filter(({ is }) => is === "done").length,
        questions: questions.map(({ message, sends }) => `${message} (${sends} sends)`),
        requests: (await listed()) - before,
      };
    }),
  );
};
