import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type KeyProvider, makeEncryptionCodec, MissingKey, openKeyring } from "../src/index.ts";
import { makeKeyringFolder } from "./support/keyring-folder.ts";
import { rereadAtEveryUse } from "./support/reread.ts";

const IBAN = "DE89370400440532013000";
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown =>
  payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);

const metadataOf = ({ metadata }: Payload): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [
      name,
      Buffer.from(value ?? []).toString(),
    ]),
  );

const makeRig = async (namespace = "payments") => {
  const keyring = await makeKeyringFolder();
  const keys = openKeyring(keyring.folder);
  return { ...keyring, keys, codec: makeEncryptionCodec({ namespace, keys }) };
};

const encryptOne = async (codec: ReturnType<typeof makeEncryptionCodec>, value: unknown) => {
  const [encrypted] = await codec.encode([payloadOf(value)]);
  if (encrypted === undefined) throw new Error("Nothing was encrypted");
  return encrypted;
};

describe("an encrypted payload", () => {
  it("shows neither value nor data key, and names the key that wraps it", async () => {
    const { codec } = await makeRig();
    const encrypted = await encryptOne(codec, { iban: IBAN });
    const everything = Buffer.concat([
      Buffer.from(encrypted.data ?? []),
      ...Object.values(encrypted.metadata ?? {}).map((value) => Buffer.from(value ?? [])),
    ]);
    expect(everything.includes(IBAN)).toBe(false);
    expect(everything.includes("json/plain")).toBe(false);
    expect(metadataOf(encrypted)).toMatchObject({
      encoding: "binary/encrypted",
      "encryption-key-id": "k1",
    });
  });

  it("differs each time, and is read as it was, metadata included", async () => {
    const { codec } = await makeRig();
    const values = [{ iban: IBAN }, undefined, null, "", new Uint8Array([0, 255])];
    const payloads = values.map(payloadOf);
    const [first, second] = [await codec.encode(payloads), await codec.encode(payloads)];
    for (const [index, payload] of first.entries()) {
      expect(Buffer.from(payload.data ?? []).equals(second[index]?.data ?? new Uint8Array())).toBe(
        false,
      );
    }
    expect((await codec.decode(first)).map(valueOf)).toStrictEqual(values);
    expect((await codec.decode(first)).map(metadataOf)).toStrictEqual(payloads.map(metadataOf));
    expect(await codec.encode([])).toStrictEqual([]);
    expect(await codec.decode([])).toStrictEqual([]);
  });

  it("of before encryption is read as it is, beside others", async () => {
    const { codec } = await makeRig();
    const plain = payloadOf("of before");
    const mixed = [plain, await encryptOne(codec, "encrypted"), {}];
    const decoded = await codec.decode(mixed);
    expect(decoded.slice(0, 2).map(valueOf)).toStrictEqual(["of before", "encrypted"]);
    expect(decoded[2]).toStrictEqual({});
  });

  it("is not decrypted in another namespace", async () => {
    const { codec, keys } = await makeRig();
    const other = makeEncryptionCodec({ namespace: "staging", keys });
    await expect(other.decode([await encryptOne(codec, IBAN)])).rejects.toThrow(
      "written for a namespace other than staging",
    );
  });

  it("is refused where any byte of it is another, and its value is in no error", async () => {
    const { addKey, codec, makeCurrent } = await makeRig();
    await addKey("k2");
    const encrypted = await encryptOne(codec, IBAN);
    const data = Buffer.from(encrypted.data ?? []);
    const forged: Array<Payload> = [...data.keys()].map((at) => {
      const copy = Buffer.from(data);
      copy.writeUInt8(copy.readUInt8(at) ^ 0x80, at);
      return { ...encrypted, data: copy };
    });
    forged.push({ ...encrypted, data: data.subarray(0, 12) });
    forged.push({ metadata: { ...encrypted.metadata }, data: null });
    for (const [name, value] of [
      ["encryption-key-id", "k2"],
      ["encryption-key-id", ""],
      ["encryption-data-key", "forged"],
      ["encryption-data-key", "x".repeat(2000)],
    ] as const) {
      forged.push({
        ...encrypted,
        metadata: { ...encrypted.metadata, [name]: Buffer.from(value) },
      });
    }
    await makeCurrent("k2");
    for (const payload of forged) {
      const error: unknown = await codec.decode([payload]).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "UndecryptablePayload" });
      expect(String(error)).not.toContain(IBAN);
    }
  });
});

describe("keys", () => {
  it("change in mid-work: the new one encrypts, the old one decrypts, and is missed by its id", async () => {
    rereadAtEveryUse();
    const { addKey, codec, keys, makeCurrent, removeKey, putBack } = await makeRig();
    const old = await encryptOne(codec, "under k1");
    await addKey("k2");
    await makeCurrent("k2");
    const young = await encryptOne(codec, "under k2");
    expect(metadataOf(young)).toMatchObject({ "encryption-key-id": "k2" });
    const fresh = () => makeEncryptionCodec({ namespace: "payments", keys });
    expect((await fresh().decode([old, young])).map(valueOf)).toStrictEqual([
      "under k1",
      "under k2",
    ]);
    await removeKey("k1");
    await expect(fresh().decode([old])).rejects.toMatchObject({ name: "MissingKey", keyId: "k1" });
    expect((await fresh().decode([young])).map(valueOf)).toStrictEqual(["under k2"]);
    // Put back, it is read: nothing of the failure is remembered.
    const patient = fresh();
    await expect(patient.decode([old])).rejects.toBeInstanceOf(MissingKey);
    await putBack("k1");
    expect((await patient.decode([old])).map(valueOf)).toStrictEqual(["under k1"]);
  });

  it("of a service are asked for once, not for each payload, and again after a failure", async () => {
    const { keys } = await makeRig();
    const makeDataKey = vi.fn<KeyProvider["makeDataKey"]>(keys.makeDataKey);
    const unwrap = vi.fn<KeyProvider["unwrap"]>(keys.unwrap);
    const provider: KeyProvider = { currentKeyId: keys.currentKeyId, makeDataKey, unwrap };
    makeDataKey.mockRejectedValueOnce(new Error("the service does not answer"));
    unwrap.mockRejectedValueOnce(new Error("the service does not answer"));
    const codec = makeEncryptionCodec({ namespace: "payments", keys: provider });
    await expect(codec.encode([payloadOf(1)])).rejects.toThrow("does not answer");
    const encrypted = await codec.encode([1, 2, 3].map(payloadOf));
    await expect(codec.decode(encrypted)).rejects.toThrow("does not answer");
    const decoded = await Promise.all([codec.decode(encrypted), codec.decode(encrypted)]);
    expect(decoded.flat().map(valueOf)).toStrictEqual([1, 2, 3, 1, 2, 3]);
    await codec.encode([payloadOf(4)]);
    expect([makeDataKey.mock.calls.length, unwrap.mock.calls.length]).toStrictEqual([2, 2]);
  });

  it("that cannot be read now leave a data key in use for its time, so that no answer is lost", async () => {
    const { keys } = await makeRig();
    const currentKeyId = vi.fn<KeyProvider["currentKeyId"]>(keys.currentKeyId);
    const provider: KeyProvider = { ...keys, currentKeyId };
    const settings = { namespace: "payments", keys: provider };
    const codec = makeEncryptionCodec(settings);
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    await codec.encode([payloadOf(1)]);
    currentKeyId.mockRejectedValue(new Error("the folder is gone"));
    now.mockReturnValue(299_999);
    const encrypted = await codec.encode([payloadOf(2)]);
    expect((await codec.decode(encrypted)).map(valueOf)).toStrictEqual([2]);
    now.mockReturnValue(300_000);
    await expect(codec.encode([payloadOf(3)])).rejects.toThrow("the folder is gone");
    await expect(makeEncryptionCodec(settings).encode([payloadOf(4)])).rejects.toThrow("is gone");
  });

  it("are made anew when their time is over", async () => {
    const { keys } = await makeRig();
    const makeDataKey = vi.fn<KeyProvider["makeDataKey"]>(keys.makeDataKey);
    const unwrap = vi.fn<KeyProvider["unwrap"]>(keys.unwrap);
    const codec = makeEncryptionCodec({
      namespace: "payments",
      keys: { currentKeyId: keys.currentKeyId, makeDataKey, unwrap },
    });
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    const first = await codec.encode([payloadOf(1)]);
    now.mockReturnValue(299_999);
    await codec.encode([payloadOf(1)]);
    expect(makeDataKey).toHaveBeenCalledTimes(1);
    now.mockReturnValue(300_000);
    const encrypted = [...first, ...(await codec.encode([payloadOf(2)]))];
    expect(makeDataKey).toHaveBeenCalledTimes(2);
    for (const payload of encrypted) await codec.decode([payload]);
    for (const payload of encrypted) await codec.decode([payload]);
    expect(unwrap).toHaveBeenCalledTimes(2);
  });
});

it("a codec without a namespace is refused", async () => {
  const { keys } = await makeRig();
  expect(() => makeEncryptionCodec({ namespace: "", keys })).toThrow(
    "needs the Temporal namespace",
  );
});
