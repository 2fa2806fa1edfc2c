import type { RecordedSend } from "./journal.ts";

/** The id by which the service names what an operation makes. */
const ID_NAMES: ReadonlyMap<string, string> = new Map([
  ["createPayout", "payout_id"],
  ["createCardholder", "card_holder_id"],
  ["createBeneficiary", "beneficiary_id"],
  ["createCard", "card_id"],
]);

/** Name the field of an operation's answer that names what it makes; undefined for one that makes nothing. */
export const idNameOf = (operation: string): string | undefined => ID_NAMES.get(operation);

/** Give the id of what a send made, where its answer gave one. */
export const idOf = ({ ids, operation }: Pick<RecordedSend, "ids" | "operation">) =>
  ids[ID_NAMES.get(operation) ?? ""];
