import type { Acting } from "@durable-payments/operations";
import * as Option from "effect/Option";
import { userInfo } from "node:os";

/** What a command that decides is given. */
export interface ActingFlags {
  readonly by: Option.Option<string>;
  readonly reason: Option.Option<string>;
}

/** Reads who acts, and how that is known: by a flag, or as this machine's user. */
export const actingOf = ({ by, reason }: ActingFlags): Acting => ({
  by: Option.getOrElse(by, () => userInfo().username),
  how: Option.isSome(by) ? "--by" : "user of this machine",
  reason: Option.getOrUndefined(reason),
});
