import { defaultAssumptions } from "@durable-payments/api-core";
import { START_BALANCES } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import type { Tally } from "../tally.ts";
import { money } from "./independent-operations.ts";
import { startIndependentService } from "./independent-service.ts";
import { LIST_LAG_SECONDS, type Service, SETTLE_AFTER_MS, VERIFY_AFTER_MS } from "./service.ts";

const timeOf = (at: number): string => new Date(at).toISOString();

/**
 * Starts the service that shares no code with client or simulator: it shows no keys and lists the oldest first; the
 * seed decides how many answers are lost, how late its lists are, in which letters, and how its clock differs.
 */
export const startIndependent = async (seed: number, tally: Tally): Promise<Service> => {
  const random = new Random(seed, "independent");
  const behaviour = {
    loses: random.pick([0.05, 0.15, 0.3]),
    listLagMs: random.pick([0, 500, 2_500]),
    listTexts: random.pick(["given", "capitals"] as const),
    listTimes: random.pick(["full", "full", "day"] as const),
    clockOffsetMs: random.pick([0, 0, -600_000, 600_000]),
  };
  const { loses, ...shown } = behaviour;
  const { apiKey, clientId, ledger, stop, url } = await startIndependentService({
    ...shown,
    balances: START_BALANCES,
    settleAfterMs: SETTLE_AFTER_MS,
    verifyAfterMs: VERIFY_AFTER_MS,
    lose: () => {
      if (!random.chance(loses)) return undefined;
      const when = random.chance(0.5) ? "before" : "after";
      tally.add(`answer lost ${when}`);
      return when;
    },
  });
  return {
    url,
    clientId,
    apiKey,
    behaviour,
    assumptions: {
      listLagSeconds: LIST_LAG_SECONDS,
      timeZone: "Asia/Singapore",
      alreadySoRefusals: {
        ...defaultAssumptions.alreadySoRefusals,
        removeCardholder: ["no such record"],
      },
    },
    ledger: async () => ({
      balances: [...ledger.balances].map(([currency, { amount }]) => ({
        currency,
        available_balance: money(amount),
      })),
      beneficiaries: [...ledger.beneficiaries].map(([beneficiary_id, details]) => ({
        beneficiary_id,
        details,
      })),
      payouts: ledger.payouts.map(({ amount, asked, at, id }) => ({
        payout_id: String(id),
        payout_status: Date.now() - at >= SETTLE_AFTER_MS ? "completed" : "processing",
        amount: money(amount),
        currency: String(asked["currency"]),
        beneficiary_id: String(asked["beneficiary_id"]),
        payout_reason: String(asked["payout_reason"]),
        returned: false,
        create_time: timeOf(at),
      })),
      cardholders: ledger.cardholders.map(({ asked, at, id, isRemoved }) => ({
        card_holder_id: String(id),
        email: String(asked["email"]),
        removed: isRemoved,
        create_time: timeOf(at),
      })),
      cards: ledger.cards.map(({ asked, at, id, status }) => ({
        card_id: String(id),
        card_holder_id: String(asked["card_holder_id"]),
        card_limit: String(asked["card_limit"]),
        card_status: status,
        create_time: timeOf(at),
      })),
    }),
    end: stop,
  };
};
