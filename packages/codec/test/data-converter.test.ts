import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  checkDataConverter,
  type EncodingSettings,
  encryptedDataConverter,
  openKeyring,
  readDataConverter,
} from "../src/index.ts";
import { makeKeyringFolder } from "./support/keyring-folder.ts";

const read = (settings: EncodingSettings) => readDataConverter(settings, "payments");

it("is none where nothing is set, and encrypts by the keys of a folder", async () => {
  const { folder } = await makeKeyringFolder();
  expect(read({})).toBeUndefined();
  const converter = read({ keyring: folder });
  const [encrypted] = (await converter?.payloadCodecs?.[0]?.encode([{ data: Buffer.of(7) }])) ?? [];
  expect(Buffer.from(encrypted?.metadata?.["encoding"] ?? []).toString()).toBe("binary/encrypted");
});

it.each([
  ["a converter", "export const dataConverter = { payloadCodecs: [] };"],
  [
    "a function of the namespace",
    `export const dataConverter = ({ namespace }) => {
      if (namespace !== "payments") throw new Error(namespace);
      return { payloadCodecs: [] };
    };`,
  ],
])("is what a module of one's own exports: %s", async (_, source) => {
  const { folder } = await makeKeyringFolder();
  const module = join(folder, "converter.mjs");
  await writeFile(module, source);
  expect(read({ dataConverter: module })).toEqual({ payloadCodecs: [] });
});

it.each([
  ["a module without it", "export const converter = 1;", "a module without `dataConverter`"],
  ["a promise", "export const dataConverter = async () => ({});", "(not a promise)"],
  ["a module that does not load", "export const = 1;", "a module that does not load"],
  [
    "a module that awaits",
    "await 1; export const dataConverter = {};",
    "a module that does not load",
  ],
  [
    "a payload converter",
    `export const dataConverter = { payloadConverterPath: "/converter.js" };`,
    "payments are stored as JSON",
  ],
])("is refused in words that name the variable: %s", async (_, source, message) => {
  const { folder } = await makeKeyringFolder();
  const module = join(folder, "converter.mjs");
  await writeFile(module, source);
  const reading = () => read({ dataConverter: module });
  expect(reading).toThrow(/^The setting dataConverter \(.*\) names a module/);
  expect(reading).toThrow(message);
});

it("is checked by encoding and decoding once", async () => {
  const { folder } = await makeKeyringFolder();
  const converterOf = (path: string) =>
    encryptedDataConverter({ namespace: "payments", keys: openKeyring(path) });
  await expect(checkDataConverter(converterOf(folder))).resolves.toBeUndefined();
  await expect(checkDataConverter(converterOf(join(folder, "none")))).rejects.toThrow(
    "The keys cannot be read",
  );
  const lossy = {
    encode: async () => [{ data: Buffer.of(1) }],
    decode: async () => [{ data: Buffer.of(2) }],
  };
  await expect(checkDataConverter({ payloadCodecs: [lossy] })).rejects.toThrow(
    "cannot decode what it has encoded",
  );
});
