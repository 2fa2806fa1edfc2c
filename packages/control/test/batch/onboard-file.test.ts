/*
 * The check of a file of people. Its cells are personal data, which no message may repeat: also not those of a file without a
 * header, whose first line looks like names of columns.
 */
import { defaultAssumptions } from "@durable-payments/client/effect";
import { makeTestFolder } from "@durable-payments/tools/testing";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkBatchFile } from "../../src/actions/batch/index.ts";
import { InvalidInput } from "../../src/errors.ts";

const folder = makeTestFolder();
afterAll(() => folder.remove());

const COLUMNS = `key,account,card_name,options.onFailure,${Object.keys({ ...inputs.cardholder, ...inputs.card }).join(",")}`;
const rowOf = (key: string, given: Readonly<Record<string, string>> = {}): string => {
  const cells = { key, account: "", card_name: "", "options.onFailure": "" };
  return Object.values({ ...cells, ...inputs.cardholder, ...inputs.card, ...given }).join(",");
};

const check = async (name: string, lines: ReadonlyArray<string>) => {
  const file = join(folder.path, name);
  await writeFile(file, lines.join("\n"));
  return checkBatchFile("onboardCardholder", file, defaultAssumptions);
};

const faultsOf = async (name: string, lines: ReadonlyArray<string>) => {
  const error: unknown = await check(name, lines).catch((rejected: unknown) => rejected);
  if (!(error instanceof InvalidInput)) throw new Error("The file is valid.");
  return { text: JSON.stringify([error.message, error.faults]), faults: error.faults ?? [] };
};

test("each row is the input of one onboarding, in CSV as in JSON Lines", async () => {
  const { cardholder, card } = inputs;
  const options = { onFailure: "compensate" };
  const named = { ...card, card_name: "Travel" };
  const given = { card_name: "Travel", "options.onFailure": "compensate" };
  const csv = await check("same.csv", [COLUMNS, rowOf("a", given)]);
  const line = JSON.stringify({ key: "a", cardholder, card: named, options });
  const jsonl = await check("same.jsonl", [line]);
  expect(csv.rows).toMatchObject([
    { workflowId: "onboardCardholder/a", input: { cardholder, card: named, options } },
  ]);
  expect(csv.batch).toMatch(/^onboardings\/[0-9a-f]{32}$/);
  expect(jsonl.batch).toBe(csv.batch);
});

test.each([
  ["without a header", ["p-1,,Tezcatlipoca,1971-03-19", "p-2,,Quetzal,1971-03-20"]],
  ["with an open quote", [COLUMNS, rowOf("p-1", { first_name: '"Tezcatlipoca' })]],
  ["with wrong values", [COLUMNS, rowOf("p-1", { date_birth: "1971-03-19x", card_limit: "19x" })]],
  ["with a cell too many", [COLUMNS, `${rowOf("p-1")},Tezcatlipoca`]],
])("a file %s is refused without what is in its cells", async (_, lines) => {
  const { text } = await faultsOf("marked.csv", lines);
  expect(text).not.toMatch(/Tezcatlipoca|Quetzal|1971|19x/);
});

test("no line that is not JSON is repeated", async () => {
  const { text } = await faultsOf("marked.jsonl", ['{"key": "a", "cardholder": Tezcatlipoca}']);
  expect(text).toMatch(/row 1:.*is not valid JSON/);
  expect(text).not.toContain("Tezcatlipoca");
});

test("the fault of an account is said once, and those of people in each row", async () => {
  const rows = ["a", "b", "c"].map((key) => rowOf(key, { account: "E U", date_birth: "never" }));
  const { faults } = await faultsOf("account.csv", [COLUMNS, rowOf("z"), ...rows]);
  expect(faults.map(({ field }) => field)).toEqual([
    "row 3, account:",
    "row 3, date_birth:",
    "row 4, date_birth:",
    "row 5, date_birth:",
  ]);
});
