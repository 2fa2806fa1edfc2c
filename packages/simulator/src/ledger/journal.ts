import { messageOf } from "@durable-payments/api-core/values";
import { Result, Schema } from "effect";
import * as fs from "node:fs";
import { type Kind, kinds, type RecordOf, recordSchemas } from "./records.ts";

/** One record as it stands after a unit of work. */
export type Change = { [K in Kind]: readonly [kind: K, id: string, record: RecordOf<K>] }[Kind];

/** Where units of work are kept; `append` returns when they would survive the end of the process. */
export interface Journal {
  readonly append: (changes: ReadonlyArray<Change>) => void;
  readonly close: () => void;
}

/** The state file cannot be used; the message says why and what to do. */
export class UnusableStateFile extends Schema.TaggedError<UnusableStateFile>()(
  "UnusableStateFile",
  { message: Schema.String },
) {}

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
    throw new UnusableStateFile({
      message: `${file} is not a state file of this simulator. Give --state-file another path, or remove the file.`,
    });
  }
  const changes: Array<Change> = [];
  const lines = content.slice(HEADER.length).split("\n").slice(0, -1);
  for (const [index, line] of lines.entries()) {
    const unit = decodeUnit(line);
    if (Result.isFailure(unit)) {
      throw new UnusableStateFile({
        message: `${file} is damaged in line ${index + 2}. Restore it from a copy, or remove it to start anew.`,
      });
    }
    // The tuples' kinds and records were decoded together.
    changes.push(...(unit.success as ReadonlyArray<Change>));
  }
  return changes;
};

/**
 * Opens a state file, one line of JSON for each unit of work, and gives back the changes in it;
 * undefined where the file is new. A unit is written before it is answered and outlives a kill of
 * the process; a last line without its end was never answered and is dropped.
 */
export const openJournal = (
  file: string,
): { readonly journal: Journal; readonly changes: ReadonlyArray<Change> | undefined } => {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, "a+", 0o600);
  } catch (cause) {
    throw new UnusableStateFile({
      message: `The state file cannot be opened: ${messageOf(cause)}`,
    });
  }
  let changes: ReadonlyArray<Change> | undefined;
  let length = 0;
  const append = (line: string) => {
    const bytes = Buffer.from(line);
    try {
      for (let done = 0; done < bytes.length;) {
        done += fs.writeSync(descriptor, bytes, done);
      }
      length += bytes.length;
    } catch (cause) {
      fs.ftruncateSync(descriptor, length);
      throw cause;
    }
  };
  const cut = (found: number) => {
    if (found > length) fs.ftruncateSync(descriptor, length);
  };
  try {
    const content = fs.readFileSync(descriptor);
    if (content.length === 0 || HEADER.startsWith(content.toString())) {
      cut(content.length);
      append(HEADER);
    } else {
      length = content.lastIndexOf("\n") + 1;
      changes = read(file, content.subarray(0, length).toString());
      cut(content.length);
    }
  } catch (cause) {
    fs.closeSync(descriptor);
    throw cause;
  }
  return {
    changes: changes?.length === 0 ? undefined : changes,
    journal: {
      append: (unit) => append(`${JSON.stringify(unit)}\n`),
      close: () => fs.closeSync(descriptor),
    },
  };
};

/** Keeps nothing. */
export const memoryJournal: Journal = { append: () => {}, close: () => {} };
