import type { RecordedSend } from "./journal.ts";

/** The id by which the service names what an operation makes. */
const ID_NAMES: ReadonlyMap<string, string> = new Map([
  ["createPayout", "payout_id"],
  ["createCardholder", "card_holder_id"],
  ["createBeneficiary", "beneficiary_id"],
  ["createCard", "card_id"],
]);

/** An operation of a user's own, and its name: as `ownActivityNames` of the protocol has it. */
const OWN_OPERATION = /^send\/(\w+)$/;

/** Name the field of an operation's answer that names what it makes; undefined for one that makes nothing. */
export const idNameOf = (operation: string): string | undefined => {
  const own = OWN_OPERATION.exec(operation)?.[1];
  return ID_NAMES.get(operation) ?? (own && `${own}_id`);
};

/** Give the id of what a send made, where its answer gave one. */
export const idOf = ({ ids, operation }: Pick<RecordedSend, "ids" | "operation">) =>
  ids[idNameOf(operation) ?? ""];
