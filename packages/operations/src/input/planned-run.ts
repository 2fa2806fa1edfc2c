import { reservedBegin } from "@durable-payments/protocol";
import type { SearchAttributePair } from "@temporalio/common";
import { invalidInput } from "../errors.ts";

/** Temporal's limit, in bytes of UTF-8. */
const LONGEST_ID = 1000;

/**
 * Check an id that a user gives a new run: Temporal takes what is not empty, has at most 1,000 bytes and no
 * control characters; what this project keeps of its own has ids of its own.
 *
 * @param id the workflow id.
 * @returns the same id.
 * @throws InvalidInput where Temporal would not take it, or it begins as the id of a batch, a pause, a
 *   settlement or the like does.
 */
export const checkId = (id: string): string => {
  // A caller without types can give anything.
  const given: unknown = id;
  if (typeof given !== "string" || id.trim() === "")
    throw invalidInput("The id must not be empty.");
  // Each is sent as a replacement character: two such ids would be one.
  if (/\p{Cs}/u.test(id)) throw invalidInput("The id must have whole characters only.");
  if (Buffer.byteLength(id) > LONGEST_ID)
    throw invalidInput(`The id must have at most ${LONGEST_ID} bytes.`);
  if (/\p{Cc}/u.test(id)) throw invalidInput("The id must have no control characters.");
  const reserved = reservedBegin(id);
  if (reserved !== undefined) {
    throw invalidInput(
      `The id must not begin with "${reserved}": such ids are kept for what belongs to runs and batches. Nothing was started.`,
    );
  }
  return id;
};

/** A run whose input has been checked. */
export interface PlannedRun<Input extends object = object> {
  /** Name of the workflow. */
  readonly workflowType: string;
  /** The id when the user gives none. */
  readonly contentId: string;
  readonly input: Input;
  /** Name of the account that pays, where the input has one. */
  readonly account?: string;
  /** One line for the Web UI, without anything that identifies a person or an account. */
  readonly summary: string;
  /** What it is started with under a workflow id, to be found by; of an account, where that is known. */
  readonly searchAttributes: (
    workflowId: string,
    account: string | undefined,
  ) => ReadonlyArray<SearchAttributePair>;
}
