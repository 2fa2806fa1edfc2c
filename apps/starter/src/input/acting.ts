import { type Acting, actorOf } from "@durable-payments/operations/decide";
import { userInfo } from "node:os";

/** What a command that decides is given. */
export interface ActingFlags {
  readonly by: string | undefined;
  readonly reason: string | undefined;
}

/** Reads who acts, and how that is known: by a flag, or as this machine's user. Rejects what the ledger would not take. */
export const actingOf = ({ by, reason }: ActingFlags, needsReason = false): Acting => {
  const how = by === undefined ? "user of this machine" : "--by";
  const acting = { by: by ?? userInfo().username, how, reason };
  actorOf(acting, needsReason);
  return acting;
};
