import { type Fault, redact } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import type { StandardSchemaV1 } from "@standard-schema/spec";

const nameOf = (segment: PropertyKey | StandardSchemaV1.PathSegment): string =>
  String(typeof segment === "object" ? segment.key : segment);

/** How long a schema may take to say what it thinks of a value. */
const SCHEMA_TIME_LIMIT_MS = 10_000;

const faultsWithoutLimit = async (
  schema: StandardSchemaV1,
  value: unknown,
): Promise<ReadonlyArray<Fault>> => {
  const { issues = [] } = await schema["~standard"].validate(value);
  return issues.map(({ message, path = [] }) => ({
    field: path.map(nameOf).join("."),
    problem: redact(message),
  }));
};

const cannotBeChecked = (why: string): Fault => ({
  field: "",
  problem: `cannot be checked: ${why}; correct the schema`,
});

/**
 * Check a value by a schema of any library that knows Standard Schema. The value stays as it is: what the
 * schema would make of it, such as a default, is not taken over.
 *
 * @param schema as zod, valibot, Effect and others make it.
 * @param value that is checked.
 * @returns every fault, by the path of its field; numbers of accounts and cards in their texts are masked. One of
 *   the whole value, where the schema throws, or does not answer within ten seconds.
 */
export const schemaFaults = async (
  schema: StandardSchemaV1,
  value: unknown,
): Promise<ReadonlyArray<Fault>> => {
  const late = Promise.withResolvers<ReadonlyArray<Fault>>();
  const timer = setTimeout(
    () =>
      late.resolve([cannotBeChecked(`its schema did not answer in ${SCHEMA_TIME_LIMIT_MS} ms`)]),
    SCHEMA_TIME_LIMIT_MS,
  );
  try {
    return await Promise.race([faultsWithoutLimit(schema, value), late.promise]);
  } catch (error) {
    return [cannotBeChecked(`its schema threw: ${redact(messageOf(error))}`)];
  } finally {
    clearTimeout(timer);
  }
};
