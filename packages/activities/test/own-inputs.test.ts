import type { StandardSchemaV1 } from "@standard-schema/spec";
import { afterEach, expect, it, vi } from "vitest";
import { amendmentFaultsOf, inputFaults } from "../src/own-inputs.ts";

const schemaThat = (validate: () => never | Promise<never>): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate },
});

const faultsBy = (schema: StandardSchemaV1) => inputFaults({ payTwo: { schema } }, "payTwo", {});

afterEach(() => void vi.useRealTimers());

it.each<[string, () => never | Promise<never>]>([
  [
    "throws",
    () => {
      throw new Error("no row of DE89370400440532013000");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no row of DE89370400440532013000"))],
])(
  "an input whose schema %s has a fault that says so, without account numbers",
  async (_, validate) => {
    const problem = "cannot be checked: its schema threw: no row of [redacted]; correct the schema";
    expect(await faultsBy(schemaThat(validate))).toEqual([{ field: "", problem }]);
  },
);

it("an input whose schema does not answer has a fault that says so, amended or not", async () => {
  vi.useFakeTimers();
  const schema = schemaThat(() => Promise.withResolvers<never>().promise);
  const checked = faultsBy(schema);
  const amended = amendmentFaultsOf({ payTwo: { schema } }, "payTwo", {
    fields: [],
    input: {},
  } as unknown as Parameters<typeof amendmentFaultsOf>[2]);
  await vi.advanceTimersByTimeAsync(10_000);
  const problem = "cannot be checked: its schema did not answer in 10000 ms; correct the schema";
  expect(await checked).toEqual([{ field: "", problem }]);
  expect(await amended).toEqual([{ field: "", problem }]);
  expect(vi.getTimerCount()).toBe(0);
});
