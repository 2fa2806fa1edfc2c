import { it } from "@effect/vitest";
import { Schema } from "effect";
import { describe, expect } from "vitest";
import { operationNames } from "../../src/client/operation-names.ts";
import { operation } from "../../src/client/operations.ts";
import { isUnsetTime } from "../../src/contract/times.ts";
import { SEED } from "../support/seeded.ts";

/** Whether a field stands for "unset": it decodes to absent. The rows of no list are unreadable. */
const isUnset = (key: string, field: unknown): boolean =>
  field === "" ||
  key === "unreadable" ||
  (/_(time|date)$/.test(key) && typeof field === "string" && isUnsetTime(field));

/** Without what the service writes for "unset". */
const withoutUnset = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUnset);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, field]) => !isUnset(key, field))
      .map(([key, field]) => [key, withoutUnset(field)]),
  );
};

describe.each(operationNames)("%s", (name) => {
  // The contract's answers need no services.
  const success = operation(name).success as Schema.Codec<unknown, unknown>;
  const throughJson = (value: unknown): unknown =>
    Schema.decodeUnknownSync(success)(
      JSON.parse(JSON.stringify(Schema.encodeUnknownSync(success)(value))),
    );

  it.prop(
    "an answer that a server writes is read as what it meant",
    [Schema.toType(success)],
    ([value]) => {
      const read = throughJson(value);
      // JSON knows no negative zero.
      const meant: unknown = value === undefined ? value : JSON.parse(JSON.stringify(value));
      expect(withoutUnset(read)).toStrictEqual(withoutUnset(meant));
      expect(throughJson(read)).toStrictEqual(read);
    },
    { arbitrary: { runs: 50, seed: SEED } },
  );
});
