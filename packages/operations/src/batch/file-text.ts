import { createReadStream } from "node:fs";
import { invalidInput } from "../errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
    return "it is not UTF-8. Save it as UTF-8 (a spreadsheet: “CSV UTF-8”)";
  }
  return REASONS[code] ?? code;
};

/**
 * The text of a file, piece by piece, with one kind of line end and no byte order mark.
 *
 * @throws InvalidInput where it cannot be read or is not UTF-8
 */
export async function* textOf(file: string): AsyncGenerator<string> {
  // The first of these takes the byte order mark away.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let held = "";
  try {
    for await (const bytes of createReadStream(file)) {
      // A stream without an encoding gives bytes.
      const text = held + decoder.decode(bytes as Buffer, { stream: true });
      held = text.endsWith("\r") ? "\r" : "";
      yield text.slice(0, text.length - held.length).replaceAll("\r\n", "\n");
    }
    yield held + decoder.decode();
  } catch (error) {
    throw invalidInput(`Cannot read ${file}: ${reasonOf(error)}.`);
  }
}
