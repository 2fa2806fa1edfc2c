import { isRecord, messageOf } from "@durable-payments/api-core/values";

/** Read a field of an object, where it is a text that is not empty. */
export const textAt = (value: unknown, field: string): string | undefined => {
  const text = isRecord(value) ? value[field] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
};

/** gRPC's code for what does not exist. */
const NOT_FOUND = 5;

/**
 * Check whether a call of Temporal failed because something that it names does not exist: perhaps the namespace. Of a
 * run, `isExecutionMissing` of the activities tells.
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

/** End a text with a full stop, where it has no end of a sentence: another sentence follows it. */
export const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** A JSON object, as it crosses Temporal. */
export type JsonFields = Readonly<Record<string, unknown>>;
