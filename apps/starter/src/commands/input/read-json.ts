import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { badUsage } from "../../exit-codes.ts";

const STANDARD_INPUT = "-";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

const read = async (file: string): Promise<string> => {
  try {
    return file === STANDARD_INPUT ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw badUsage(`Cannot read ${file}: ${reasons[code] ?? code}.`);
  }
};

/** What a file is called in messages. */
export const nameOfFile = (file: string): string =>
  file === STANDARD_INPUT ? "Standard input" : file;

/** How a file begins that gzip has compressed, read as text. */
const GZIP = "\u001f\ufffd";

/** Where a JSON text is broken; the parser's own message may repeat account numbers of the text. */
const placeOf = (error: unknown): string => {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message) : null;
  return place === null ? "" : ` (${place[0]})`;
};

/** The value that a JSON file, or standard input, holds. */
export const readJson = async (file: string): Promise<unknown> => {
  const json = (await read(file)).replace(/^\uFEFF/, "");
  try {
    const value: unknown = JSON.parse(json);
    return value;
  } catch (error) {
    const name = nameOfFile(file);
    if (json.startsWith(GZIP)) throw badUsage(`${name} is compressed by gzip: unpack it first.`);
    throw badUsage(
      json.trim() === ""
        ? `${name} is empty: it must hold a JSON object.`
        : `${name} holds no valid JSON${placeOf(error)}.`,
    );
  }
};
