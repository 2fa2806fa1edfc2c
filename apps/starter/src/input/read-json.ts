import type { Assumptions } from "@durable-payments/api-core";
import { readAssumptions } from "@durable-payments/operations/input";
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import { badUsage } from "../exit-codes.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
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
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw badUsage(`Cannot read ${file}: ${REASONS[code] ?? code}.`);
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
