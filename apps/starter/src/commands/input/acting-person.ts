import { userInfo } from "node:os";
import * as Option from "effect/Option";
import { badUsage } from "../../exit-codes.ts";

/** The user of this machine; a container may have none. */
const thisUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
};

/**
 * Who acts: as given by --by, or the user of this machine.
 *
 * @throws BadUsage where the name is empty
 */
export const actingPerson = (by: Option.Option<string>): string => {
  const name = Option.getOrElse(by, thisUser);
  if (name.trim() === "") throw badUsage("--by must not be empty.");
  return name;
};
