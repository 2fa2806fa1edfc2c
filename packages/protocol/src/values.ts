import { isRecord } from "@durable-payments/api-core/values";

/** Read a field of an object, where it is a text that is not empty. */
export const textAt = (value: unknown, field: string): string | undefined => {
  const text = isRecord(value) ? value[field] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
};

/** gRPC's code for what does not exist. */
const NOT_FOUND = 5;

/** Whether a call of Temporal failed because what it names does not exist. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === NOT_FOUND;
