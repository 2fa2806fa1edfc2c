/** Fields of a JSON object as it goes over the wire. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An object with some fields changed; where `change` gives undefined, the field goes. */
export const changeFields = (
  fields: JsonObject,
  change: (value: unknown, name: string) => unknown,
): JsonObject =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, change(value, name)] as const)
      .filter(([, value]) => value !== undefined),
  );
