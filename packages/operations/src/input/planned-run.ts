import { invalidInput } from "../errors.ts";

/** Temporal's limit, in bytes of UTF-8. */
const LONGEST_ID = 1000;

/** What ids of the project's own workflows begin with. */
const RESERVED = ["payouts/", "tracker/", "notifier/"];

/**
 * Checks an id that a user gives a new run: Temporal accepts up to 1,000 bytes without control characters.
 *
 * @param id the workflow id.
 * @returns the same id.
 * @throws InvalidInput where Temporal would refuse it, or it begins as the id of a batch or a tracker does.
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
  const reserved = RESERVED.find((begin) => id.startsWith(begin));
  if (reserved !== undefined) {
    throw invalidInput(
      `The id must not begin with "${reserved}": batches and trackers have such ids. Nothing was started.`,
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
}
