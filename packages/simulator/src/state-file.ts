import { messageOf } from "@durable-payments/client/values";
import { Result, Schema } from "effect";
import * as fs from "node:fs";
import { kinds, recordSchemas } from "./model/records.ts";
import type { Change } from "./model/service.ts";

/** The state file cannot be used; the message says why and what to do. */
class UnusableStateFile extends Error {
  override readonly name = "UnusableStateFile";
}

const HEADER = `${JSON.stringify({ format: "durable-payments-simulator", version: 1 })}\n`;

// One tuple a kind: the union of them is what `Change` says.
const Unit = Schema.Array(
  Schema.Union(
    kinds.map((kind) => Schema.Tuple([Schema.Literal(kind), Schema.String, recordSchemas[kind]])),
  ),
);
const decodeUnit = Schema.decodeUnknownResult(Schema.fromJsonString(Unit));

const read = (file: string, content: string): ReadonlyArray<Change> => {
  if (!content.startsWith(HEADER)) {
    throw new UnusableStateFile(
      `${file} is not a state file of this simulator. Choose another path with --state-file, or delete the file.`,
    );
  }
  const lines = content.slice(HEADER.length).split("\n").slice(0, -1);
  return lines.flatMap((line, index) => {
    const unit = decodeUnit(line);
    if (Result.isFailure(unit)) {
      throw new UnusableStateFile(
        `${file} is damaged in line ${index + 2}. Restore it from a copy, or delete it to start over.`,
      );
    }
    // The tuples' kinds and records were decoded together.
    return unit.success as ReadonlyArray<Change>;
  });
};

/** The store of the changes of units of work. */
export type StateFile = ReturnType<typeof openStateFile>;

/**
 * Opens a state file, one line of JSON a unit of work. A unit is written before the response, and
 * survives a kill of the process. An incomplete last line was never confirmed, and is dropped.
 *
 * @throws UnusableStateFile if it cannot be opened, is damaged, or is another program's.
 */
export const openStateFile = (file: string) => {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, "a+", 0o600);
  } catch (cause) {
    throw new UnusableStateFile(`The state file cannot be opened: ${messageOf(cause)}`);
  }
  let length = 0;
  const append = (line: string) => {
    const bytes = Buffer.from(line);
    try {
      for (let done = 0; done < bytes.length;) done += fs.writeSync(descriptor, bytes, done);
      length += bytes.length;
    } catch (cause) {
      fs.ftruncateSync(descriptor, length);
      throw cause;
    }
  };
  let changes: ReadonlyArray<Change> = [];
  try {
    const content = fs.readFileSync(descriptor);
    const isNew = HEADER.startsWith(content.toString());
    if (!isNew) {
      length = content.lastIndexOf("\n") + 1;
      changes = read(file, content.subarray(0, length).toString());
    }
    if (content.length > length) fs.ftruncateSync(descriptor, length);
    if (isNew) append(HEADER);
  } catch (cause) {
    fs.closeSync(descriptor);
    throw cause;
  }
  return {
    /** The changes that are stored so far, oldest first. */
    changes,
    /** Stores the changes of one unit: once it returns, they survive the end of the process. */
    append: (unit: ReadonlyArray<Change>) => append(`${JSON.stringify(unit)}\n`),
    close: () => fs.closeSync(descriptor),
  };
};
