import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readJson } from "../src/input/given.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "given-"));
});
afterAll(() => rm(folder, { recursive: true }));

const input = { account_holder: "Müller Söhne GmbH", city: "Köln" };
const json = JSON.stringify(input);
const read = async (bytes: Buffer) => {
  const file = join(folder, "payout.json");
  await writeFile(file, bytes);
  return readJson(file);
};

it.each([
  ["UTF-8", Buffer.from(json)],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${json}`)],
  [
    "UTF-8 with the line ends of Windows",
    Buffer.from(JSON.stringify(input, null, 2).replaceAll("\n", "\r\n")),
  ],
])("a JSON file in %s is read", async (_, bytes) => {
  expect(await read(bytes)).toEqual(input);
});

it.each([
  ["Latin-1", Buffer.from(json, "latin1"), "it is not UTF-8. Save it as UTF-8"],
  ["UTF-16", Buffer.from(`\ufeff${json}`, "utf16le"), "it is UTF-16. Save it as UTF-8 (PowerShell"],
  ["UTF-16 without a mark", Buffer.from(json, "utf16le"), "it is UTF-16"],
  [
    "no JSON",
    Buffer.from('{"account_number": DE89370400440532013000}'),
    "does not contain valid JSON",
  ],
  ["nothing", Buffer.from("\n"), "is empty"],
])("a JSON file in %s is refused, and no letter is guessed", async (_, bytes, problem) => {
  const reading = read(bytes);
  await expect(reading).rejects.toThrow(problem);
  await expect(reading).rejects.not.toThrow("DE89");
});
