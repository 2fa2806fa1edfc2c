import { it } from "@effect/vitest";
import { Exit, Schema } from "effect";
import { describe, expect } from "vitest";
import { operationNames } from "../../src/client/operation-names.ts";
import { operation } from "../../src/client/operations.ts";
import { dataOf } from "../../src/contract/envelope.ts";
import { answerDecoder } from "../../src/contract/lenient-decoder.ts";
import { SEED } from "../support/seeded.ts";

/** What may stand in the place of a value; undefined takes it out. */
const junk: ReadonlyArray<unknown> = [
  undefined,
  null,
  "",
  "text",
  "0001-01-01T00:00:00Z",
  "0001-01-01",
  7,
  1e300,
  0.1,
  true,
  [],
  [null],
  {},
];

const replacements = Schema.Array(
  Schema.Struct({
    turn: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
    by: Schema.Literals(junk.map((_, index) => index)),
  }),
);

/** `wire` with other values in the place of those whose turn it is, counted from the innermost. */
const spoilt = (wire: unknown, replaced: typeof replacements.Type): unknown => {
  let turn = 0;
  const json: unknown = JSON.parse(JSON.stringify(wire), (_key, value: unknown) => {
    turn++;
    const replacement = replaced.find((one) => one.turn === turn);
    return replacement === undefined ? value : junk[replacement.by];
  });
  return json;
};

const decoded = operationNames.flatMap((name) => {
  // The contract's answers need no services.
  const success = operation(name).success as Schema.Codec<unknown, unknown>;
  const quick = answerDecoder(success);
  return quick === undefined ? [] : [{ name, success, quick }];
});

it("are the answers of all operations but the few of another build", () => {
  const names = decoded.map(({ name }) => name);
  expect(operationNames.filter((name) => !names.includes(name))).toEqual(["ping"]);
});

describe.each(decoded)("$name, decoded in one step", ({ quick, success }) => {
  const throughSchema = Schema.decodeUnknownExit(success);
  const encode = Schema.encodeUnknownSync(success);

  it.prop(
    "is what the schema decodes",
    [Schema.toType(success)],
    ([value]) => {
      const wire = encode(value);
      expect(Exit.succeed(quick(wire, new Set()))).toStrictEqual(throughSchema(wire));
    },
    { arbitrary: { runs: 50, seed: SEED } },
  );

  it.prop(
    "takes what the schema takes, where the answer is spoilt, too, and reads it alike",
    [Schema.toType(success), replacements],
    ([value, replaced]) => {
      const json = spoilt(encode(value), replaced);
      const envelope = { code: 200, message: "Success", data: dataOf(json) };
      const documented = throughSchema(envelope);
      if (Exit.isSuccess(documented)) {
        expect(quick(envelope, new Set())).toStrictEqual(documented.value);
      }
    },
    { arbitrary: { runs: 300, seed: SEED } },
  );
});
