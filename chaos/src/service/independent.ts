import { defaultAssumptions } from "@durable-payments/api-core";
import { startIndependentService } from "@durable-payments/tools/testing";
import { Random } from "../plan/random.ts";
import type { Service } from "./service.ts";
import { SETTLE_AFTER_MS, VERIFY_AFTER_MS } from "./simulator-timing.ts";
import { LIST_LAG_SECONDS } from "./temperament.ts";

const UNITS = 10_000;

const written = (amount: bigint): string => {
  const digits = String(amount).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Starts the service that shares no code with client or simulator: it shows no keys and lists the oldest first; the
 * seed decides how many answers are lost, how late its lists are, in which letters, and how its clock differs.
 */
export const startIndependent = async (
  seed: number,
  funds: Readonly<Record<string, string>>,
): Promise<Service> => {
  const random = new Random(seed, "independent");
  const behaviour = {
    loses: random.pick([0.05, 0.15, 0.3]),
    listLagMs: random.pick([0, 500, 2_500]),
    listTexts: random.pick(["given", "capitals"] as const),
    listTimes: random.pick(["full", "full", "day"] as const),
    clockOffsetMs: random.pick([0, 0, -600_000, 600_000]),
  };
  const lost: Record<string, number> = { "lost before": 0, "lost after": 0 };
  const { loses, ...shown } = behaviour;
  const service = await startIndependentService({
    ...shown,
    settleAfterMs: SETTLE_AFTER_MS,
    verifyAfterMs: VERIFY_AFTER_MS,
    lose: () => {
      if (!random.chance(loses)) return undefined;
      const when = random.chance(0.5) ? "before" : "after";
      lost[`lost ${when}`] = (lost[`lost ${when}`] ?? 0) + 1;
      return when;
    },
  });
  for (const [currency, balance] of service.ledger.balances) {
    balance.amount = BigInt(Math.round(Number(funds[currency] ?? "0") * UNITS));
  }
  const { ledger } = service;
  return {
    url: service.url,
    credentials: () => service,
    behaviour,
    assumptions: {
      listLagSeconds: LIST_LAG_SECONDS,
      timeZone: "Asia/Singapore",
      alreadySoRefusals: {
        ...defaultAssumptions.alreadySoRefusals,
        removeCardholder: ["no such cardholder"],
      },
    },
    faults: () => lost,
    ledger: () =>
      Promise.resolve({
        balances: [...ledger.balances].map(([currency, { amount }]) => ({
          currency,
          available_balance: written(amount),
        })),
        beneficiaries: [...ledger.beneficiaries].map(([beneficiary_id, details]) => ({
          beneficiary_id,
          details,
        })),
        payouts: ledger.payouts.map(({ amount, asked, at, id }) => ({
          payout_id: String(id),
          payout_status: Date.now() - at >= SETTLE_AFTER_MS ? "completed" : "processing",
          amount: written(amount),
          currency: textOf(asked["currency"]),
          beneficiary_id: textOf(asked["beneficiary_id"]),
          payout_reason: textOf(asked["payout_reason"]),
          returned: false,
          create_time: new Date(at).toISOString(),
        })),
        cardholders: ledger.cardholders.map(({ asked, at, id, isRemoved }) => ({
          card_holder_id: String(id),
          email: textOf(asked["email"]),
          removed: isRemoved,
          create_time: new Date(at).toISOString(),
        })),
        cards: ledger.cards.map(({ asked, id, status }) => ({
          card_id: String(id),
          card_holder_id: textOf(asked["card_holder_id"]),
          card_limit: String(asked["card_limit"]),
          card_status: status,
        })),
      }),
    end: () => service.stop(),
  };
};
