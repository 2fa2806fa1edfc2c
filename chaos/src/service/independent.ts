import { defaultAssumptions } from "@durable-payments/client/effect";
import { type Made, START_BALANCES } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import type { Tally } from "../tally.ts";
import { type IndependentLedger, money } from "./independent-operations.ts";
import { startIndependentService } from "./independent-service.ts";
import {
  asMade,
  ASSUMED,
  LONGEST_RETURN_MS,
  type Service,
  SETTLE_AFTER_MS,
  VERIFY_AFTER_MS,
} from "./service.ts";

const DAY_MS = 86_400_000;
const BUSY_SHARE = 0.03;

/** More often than not it honours windows. */
const WINDOWS = [
  "honoured",
  ...(["honoured", "honoured", "honoured"] as const),
  ...(["ignored", "late", "far", "settled", "short", "uncounted", "refused"] as const),
] as const;

/** A result is known by its request. */
const madeBy =
  (operation: Made["operation"]) =>
  ({ asked, at, id, isUndone }: IndependentLedger["cards"][number]): Made => {
    const settled = isUndone ? "returned" : "completed";
    const payout_status = Date.now() - at < SETTLE_AFTER_MS ? "processing" : settled;
    const status = operation === "createPayout" && { payout_status };
    return asMade(operation, { ...asked, ...status }, { id: String(id), at, isUndone });
  };

/**
 * Starts the service that shares no code with client or simulator, and lists the oldest first. The seed decides how many
 * answers are lost, how late its lists are, in which letters, whether they show keys, and how its clock differs.
 */
export const startIndependent = async (
  seed: number,
  tally: Tally,
  account: string | undefined,
): Promise<Service> => {
  const random = new Random(seed, "independent");
  const behaviour = {
    loses: random.pick([0.05, 0.15, 0.5]),
    listLagMs: random.pick([0, 500, 2_500]),
    listTexts: random.pick(["given", "capitals"] as const),
    listTimes: random.pick(["full", "full", "day"] as const),
    clockOffsetMs: random.chance(0.2) ? 0 : random.int(-DAY_MS, DAY_MS),
    date: random.pick(["own", "proxy", "none"] as const),
    showsKeys: random.chance(0.5),
    updates: random.chance(0.5),
    tokenSeconds: random.pick([20, 1800]),
    // A stream of its own, so that the rest of a seed stays as it was.
    windows: new Random(seed, "independent/windows").pick(WINDOWS),
  };
  const { loses, ...shown } = behaviour;
  const { apiKey, clientId, ledger, stop, url } = await startIndependentService({
    ...shown,
    clientId: `client-of-${account ?? "independent"}`,
    // The reports of both accounts are compared by the ids of payments.
    ...(account !== undefined && { firstId: 880_000_018 }),
    balances: START_BALANCES,
    settleAfterMs: SETTLE_AFTER_MS,
    returnAfterMs: new Random(seed, "service/returns").int(0, LONGEST_RETURN_MS),
    verifyAfterMs: VERIFY_AFTER_MS,
    lose: () => {
      if (!random.chance(loses)) return undefined;
      const when = random.chance(0.25) ? "before" : "after";
      tally.add(`answer lost ${when}`);
      return when;
    },
    isBusy: () => {
      const isBusy = random.chance(BUSY_SHARE);
      if (isBusy) tally.add("rejected as busy");
      return isBusy;
    },
  });
  return {
    account,
    url,
    clientId,
    apiKey,
    behaviour,
    assumptions: {
      ...ASSUMED,
      timeZone: "Asia/Singapore",
      listPayoutsParameters: { start: "from_time", end: "to_time" },
      rangeBoundUnit: "seconds",
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
      returning: ledger.returning.size,
      made: [
        ...ledger.payouts.map(madeBy("createPayout")),
        ...ledger.cardholders.map(madeBy("createCardholder")),
        ...ledger.cards.map(madeBy("createCard")),
      ],
    }),
    end: stop,
  };
};
