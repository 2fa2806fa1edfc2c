/*
 * The meaning of a payout's status. The service's document lists some words and does not explain them, so the
 * assumptions say what each means. A word that they do not list leaves a payout open: nobody may pay it again.
 */
import { InvalidSettings } from "../client/errors.ts";
import { isRecord } from "../values.ts";
import type { Assumptions } from "./assumptions.ts";
import { defaultAssumptions } from "./default-assumptions.ts";
import type { Payout } from "./payouts.ts";

const plain = (word: string): string => word.trim().toLowerCase();

/** Returns whether a list of statuses has this one, without regard to case. */
export const isOneOf = (statuses: ReadonlyArray<string>, status = ""): boolean =>
  statuses.some((listed) => plain(listed) === plain(status));

/** Returns what the settings say of a word: `timed` completes a payout with a completion time; undefined if nothing. */
export const listedMeaning = (word: string, assumptions: Assumptions) => {
  const { completeTimeStatuses } = assumptions;
  if (isOneOf(assumptions.payoutReturnedStatuses, word)) return "returned";
  if (isOneOf(assumptions.payoutFailedStatuses, word)) return "failed";
  if (isOneOf(assumptions.payoutCompletedStatuses, word)) return "completed";
  if (isOneOf(completeTimeStatuses, word)) return "timed";
  // There is no word to ask about.
  if (plain(word) === "") return completeTimeStatuses.length > 0 ? "timed" : "open";
  return undefined;
};

/**
 * Returns the state of a payout, by its `payout_status` and `complete_time`.
 *
 * @param assumptions those that differ from the defaults, as the client has them
 * @throws InvalidSettings that names an unknown assumption; TypeError for a value that is not a payout, such as its status alone
 * @returns `completed`; `failed`: the money did not leave; `returned`: it left and came back; `open`: none of these, or
 *   the assumptions do not list the status
 * @example
 * const state = payoutState(await client.retrievePayout({ payout_id })); // "open"
 */
export const payoutState = (
  payout: Pick<Payout, "complete_time" | "payout_status">,
  assumptions: Partial<Assumptions> = {},
): "completed" | "failed" | "open" | "returned" => {
  // A caller without types may give anything, and "open" would look right.
  if (!isRecord(payout))
    throw new TypeError("payoutState takes a payout, such as retrievePayout returns.");
  const unknown = Object.keys(assumptions).find((name) => !Object.hasOwn(defaultAssumptions, name));
  if (unknown !== undefined)
    throw new InvalidSettings({ message: `There is no assumption ${unknown}.` });
  const { complete_time, payout_status = "" } = payout;
  const meaning = listedMeaning(payout_status, { ...defaultAssumptions, ...assumptions }) ?? "open";
  if (meaning !== "timed") return meaning;
  return complete_time === undefined ? "open" : "completed";
};
