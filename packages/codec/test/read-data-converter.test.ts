import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readDataConverter } from "../src/index.ts";
import { makeKeyringFolder } from "./support/keyring-folder.ts";

const read = (environment: Readonly<Record<string, string>>) =>
  readDataConverter(environment, "payments");

it("is none where nothing is set, and encrypts by the keys of a folder", async () => {
  const { folder } = await makeKeyringFolder();
  expect(await read({})).toBeUndefined();
  expect(await read({ PAYMENTS_KEYRING: " ", PAYMENTS_DATA_CONVERTER: "" })).toBeUndefined();
  const converter = await read({ PAYMENTS_KEYRING: folder });
  const [encrypted] = (await converter?.payloadCodecs?.[0]?.encode([{ data: Buffer.of(7) }])) ?? [];
  expect(Buffer.from(encrypted?.metadata?.["encoding"] ?? []).toString()).toBe("binary/encrypted");
});

it.each([
  ["a converter", "export const dataConverter = { payloadCodecs: [] };"],
  [
    "a function of the namespace",
    `export const dataConverter = async ({ namespace }) => {
      if (namespace !== "payments") throw new Error(namespace);
      return { payloadCodecs: [] };
    };`,
  ],
])("is what a module of one's own exports: %s", async (_, source) => {
  const { folder } = await makeKeyringFolder();
  const module = join(folder, "converter.mjs");
  await writeFile(module, source);
  expect(await read({ PAYMENTS_DATA_CONVERTER: module })).toEqual({ payloadCodecs: [] });
});

it("is refused in words that name the variable", async () => {
  const { folder } = await makeKeyringFolder();
  const module = join(folder, "empty.mjs");
  await writeFile(module, "export const converter = 1;");
  const both = { PAYMENTS_KEYRING: folder, PAYMENTS_DATA_CONVERTER: module };
  await expect(read(both)).rejects.toThrow(
    "Set PAYMENTS_KEYRING or PAYMENTS_DATA_CONVERTER, not both",
  );
  await expect(read({ PAYMENTS_DATA_CONVERTER: module })).rejects.toThrow(
    "PAYMENTS_DATA_CONVERTER names a module without `dataConverter`",
  );
  await expect(read({ PAYMENTS_DATA_CONVERTER: join(folder, "none.mjs") })).rejects.toThrow(
    "PAYMENTS_DATA_CONVERTER names a module that does not load",
  );
  await expect(read({ PAYMENTS_KEYRING: join(folder, "none") })).rejects.toThrow(
    "The keys cannot be read",
  );
});
