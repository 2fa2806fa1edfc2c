import { isRecord } from "@durable-payments/api-core/values";
import { createReadStream } from "node:fs";
import { BadUsage, badUsage } from "../exit-codes.ts";

const STANDARD_INPUT = "-";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

/** What a file is called in messages. */
const nameOfFile = (file: string): string => (file === STANDARD_INPUT ? "Standard input" : file);

/** Temporal keeps no history of half that size. */
const MOST_MEGABYTES = 128;
const BYTES_OF_MEGABYTE = 1024 * 1024;

const read = async (file: string): Promise<string> => {
  const pieces: Array<Buffer> = [];
  let length = 0;
  try {
    for await (const piece of file === STANDARD_INPUT ? process.stdin : createReadStream(file)) {
      // Bytes, or text where somebody has given the stream an encoding.
      const bytes = Buffer.from(piece as Buffer | string);
      length += bytes.length;
      if (length > MOST_MEGABYTES * BYTES_OF_MEGABYTE) break;
      pieces.push(bytes);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw badUsage(`Cannot read ${file}: ${reasons[code] ?? code}.`);
  }
  if (length > MOST_MEGABYTES * BYTES_OF_MEGABYTE) {
    throw badUsage(
      `${nameOfFile(file)} is larger than ${MOST_MEGABYTES} MB, which no input and no history is.`,
    );
  }
  return Buffer.concat(pieces).toString();
};

/** Whoever walks through a value that is much deeper runs out of stack. */
const MOST_LEVELS = 500;

const isTooDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value];
  for (let depth = 0; depth <= MOST_LEVELS; depth += 1) {
    level = level.flatMap((one) =>
      isRecord(one) || Array.isArray(one) ? Object.values<unknown>(one) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
};

/** How a file begins that gzip has compressed, read as text. */
const GZIP = "\u001f\ufffd";

/** Where a JSON text is broken; the parser's own message may repeat account numbers of the text. */
const placeOf = (error: unknown): string => {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message) : null;
  return place === null ? "" : ` (${place[0]})`;
};

const notTooDeep = (value: unknown, file: string): unknown => {
  if (!isTooDeep(value)) return value;
  throw badUsage(
    `${nameOfFile(file)} is nested more than ${MOST_LEVELS} levels deep, which no input and no history is.`,
  );
};

/** The value that a JSON file, or standard input, holds. */
export const readJson = async (file: string): Promise<unknown> => {
  const json = (await read(file)).replace(/^\uFEFF/, "");
  try {
    return notTooDeep(JSON.parse(json), file);
  } catch (error) {
    if (error instanceof BadUsage) throw error;
    const name = nameOfFile(file);
    if (json.startsWith(GZIP)) throw badUsage(`${name} is compressed by gzip: unpack it first.`);
    throw badUsage(
      json.trim() === ""
        ? `${name} is empty: it must hold a JSON object.`
        : `${name} holds no valid JSON${placeOf(error)}.`,
    );
  }
};
