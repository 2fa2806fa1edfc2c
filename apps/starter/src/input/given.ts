import type { Assumptions } from "@durable-payments/api-core";
import { type Acting, actorOf, readAssumptions, whyUnreadable } from "@durable-payments/operations";
import { createReadStream } from "node:fs";
import { userInfo } from "node:os";
import { text } from "node:stream/consumers";
import { badUsage } from "../exit-codes.ts";

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

/** Where a JSON text is broken; the parser's own message may repeat account numbers of the text. */
const placeOf = (error: unknown): string => {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message) : null;
  return place === null ? "" : ` (${place[0]})`;
};

/** The value that a JSON file, or standard input (`-`), holds. */
export const readJson = async (file: string): Promise<unknown> => {
  const [name, stream] =
    file === "-" ? ["Standard input", process.stdin] : [file, createReadStream(file)];
  let json: string;
  try {
    json = (await text(stream)).replace(/^\uFEFF/, "");
  } catch (error) {
    throw badUsage(`Cannot read ${file}: ${whyUnreadable(error)}.`);
  }
  try {
    return JSON.parse(json);
  } catch (error) {
    throw badUsage(
      json.trim() === ""
        ? `${name} is empty: it must hold a JSON object.`
        : `${name} holds no valid JSON${placeOf(error)}.`,
    );
  }
};

/** What is assumed of the service where the worker has the same settings. */
export const assumptionsHere = (): Assumptions =>
  readAssumptions(process.env["PAYMENTS_ASSUMPTIONS"]);
