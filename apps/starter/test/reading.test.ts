import { like } from "@durable-payments/tools/test-data";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GivenDecision, readDecision } from "../src/commands/input/decision.ts";
import { readJson } from "../src/commands/input/read-json.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "starter-test-"));
});
afterAll(() => rm(folder, { recursive: true }));

const written = async (text: string) => {
  const file = join(folder, "input.json");
  await writeFile(file, text);
  return file;
};

it("reads JSON, with a byte order mark too", async () => {
  expect(await readJson(await written('\uFEFF{"a": [1]}\n'))).toEqual({ a: [1] });
});

it.each([
  ["", /input.json is empty: it must hold a JSON object/],
  [" \n", /input.json is empty/],
  ['{"iban": "DE89370400440532013000",\n  "x": 1 2}', /no valid JSON \(line 2 column \d+\)\.$/],
  ['{"iban": DE89370400440532013000}', /no valid JSON\.$/],
])("reports that %j is no JSON, without repeating it", async (text, message) => {
  const error: unknown = await readJson(await written(text)).catch((error: unknown) => error);
  expect(error).toMatchObject({ name: "BadUsage", message: like(message) });
  expect(String(error)).not.toContain("DE89");
});

it("reports what cannot be read", async () => {
  await expect(readJson(join(folder, "nowhere.json"))).rejects.toThrow(
    /nowhere.json: there is no such file/,
  );
  await expect(readJson(folder)).rejects.toThrow(/it is a folder/);
});

const given = (decision: Partial<GivenDecision>): GivenDecision => ({
  found: undefined,
  resend: false,
  amend: undefined,
  abandon: undefined,
  ...decision,
});

it("takes each decision", async () => {
  const amend = await written('{"phone_number": "+493012"}');
  expect(await readDecision(given({ found: { payout_id: "p-1" } }))).toEqual({
    found: { payout_id: "p-1" },
  });
  expect(await readDecision(given({ resend: true }))).toEqual({ resend: true });
  expect(await readDecision(given({ abandon: "no" }))).toEqual({ abandon: "no" });
  expect(await readDecision(given({ amend }))).toEqual({
    amend: { phone_number: "+493012" },
  });
});

it("takes exactly one", async () => {
  await expect(readDecision(given({}))).rejects.toThrow(/exactly one of/);
  await expect(readDecision(given({ resend: true, abandon: "no" }))).rejects.toThrow(
    /exactly one of/,
  );
  await expect(readDecision(given({ amend: await written("[]") }))).rejects.toThrow(
    /an object of fields/,
  );
});
