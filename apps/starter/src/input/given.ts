import { textOf } from "@durable-payments/control/batch";
import { type Acting, actorOf } from "@durable-payments/control/decide";
import type { Payments } from "@durable-payments/control/payments";
import { badUsage } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";

/** The work of a command: returns its exit code, or nothing for 0. */
export type Act<Flags> = (
  output: Output,
  payments: Payments,
  flags: Flags,
) => Promise<number | void>;

/** Flags of a command that decides. */
export interface ActingFlags {
  readonly by: string | undefined;
  readonly reason?: string | undefined;
}

/** Reads the person who acts. The user of this machine is nobody: several people, or none, may have that name. */
export const actingOf = ({ by, reason }: ActingFlags, needsReason = false): Acting => {
  const person = by ?? process.env["PAYMENTS_PERSON"];
  if (!person && by === undefined)
    throw badUsage(
      "Who are you? Pass --by NAME, or set PAYMENTS_PERSON to your name. Nothing was done.",
    );
  const how = by === undefined ? "PAYMENTS_PERSON" : "--by";
  const acting = { by: person ?? "", how, reason };
  actorOf(acting, needsReason);
  return acting;
};

/** Returns where a JSON text is broken; the parser's own message may repeat account numbers of the text. */
const placeOf = (error: unknown): string => {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message) : null;
  return place === null ? "" : ` (${place[0]})`;
};

/** The value that a JSON file, or standard input (`-`), holds. */
export const readJson = async (file: string): Promise<unknown> => {
  const name = file === "-" ? "Standard input" : file;
  let json = "";
  for await (const part of textOf(name, file === "-" ? process.stdin : undefined)) json += part;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw badUsage(
      json.trim() === ""
        ? `${name} is empty: it must contain a JSON object.`
        : `${name} does not contain valid JSON${placeOf(error)}.`,
    );
  }
};
