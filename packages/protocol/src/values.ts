import { isRecord, messageOf } from "@durable-payments/api-core/values";

/** Read a field of an object, where it is a text that is not empty. */
export const textAt = (value: unknown, field: string): string | undefined => {
  const text = isRecord(value) ? value[field] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
};

/** gRPC's code for what does not exist. */
const NOT_FOUND = 5;

/**
 * Check whether a call of Temporal failed because something that it names does not exist: perhaps the namespace.
 */
export const isNotFound = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === NOT_FOUND;

/**
 * Read what Temporal says of a call that failed: without the names and numbers of gRPC, and without what the
 * SDK has wrapped around it.
 *
 * @param error what a call of its client has thrown.
 * @returns the reason, for a person.
 */
export const temporalReason = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const details = isRecord(cause) ? cause["details"] : undefined;
  if (typeof details === "string" && details !== "") return details;
  return messageOf(cause instanceof Error ? cause : error).replace(/^\d+ [A-Z_]+: /, "");
};

/** Show the end of a number, so that whoever knows it knows it again: `…4321`. */
export const lastFour = (number: string): string => {
  const plain = number.replaceAll(/\s/g, "");
  return plain.length > 4 ? `…${plain.slice(-4)}` : "…";
};

/** Writes letters of either case alike: upper case first, as `ß` and `SS` are alike. */
export const caseless = (text: string): string => text.toUpperCase().toLowerCase();

/** Checks whether a name can be that of an operation: it becomes the name of an activity. */
export const isOperationName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name);

/** A JSON object, as it crosses Temporal. */
export type JsonFields = Readonly<Record<string, unknown>>;
