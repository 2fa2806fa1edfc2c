import { chmod, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { openKeyring, openTextSeal } from "../src/index.ts";
import { makeKeyringFolder } from "./support/keyring-folder.ts";
import { rereadAtEveryUse } from "./support/reread.ts";

it("wraps data keys of 32 random bytes under the current key", async () => {
  const { folder } = await makeKeyringFolder();
  rereadAtEveryUse();
  const keyring = openKeyring(folder);
  const made = await keyring.makeDataKey(await keyring.currentKeyId());
  const other = await keyring.makeDataKey("k1");
  expect(made).toMatchObject({ keyId: "k1", key: { length: 32 } });
  expect(Buffer.from(made.key).equals(other.key)).toBe(false);
  expect(Buffer.from(made.wrapped).includes(Buffer.from(made.key))).toBe(false);
  expect(await keyring.unwrap("k1", made.wrapped)).toStrictEqual(made.key);
});

it("takes keys that are added, made current and removed, without being opened again", async () => {
  const { addKey, folder, makeCurrent, removeKey } = await makeKeyringFolder();
  rereadAtEveryUse();
  const keyring = openKeyring(folder);
  const old = await keyring.makeDataKey("k1");
  await addKey("k2");
  await makeCurrent("k2");
  expect(await keyring.currentKeyId()).toBe("k2");
  expect(await keyring.unwrap("k1", old.wrapped)).toStrictEqual(old.key);
  await removeKey("k1");
  await expect(keyring.unwrap("k1", old.wrapped)).rejects.toMatchObject({
    name: "MissingKey",
    keyId: "k1",
    message: expect.stringContaining(`The key k1 is missing in ${folder}`) as unknown,
  });
});

it("reads the folder at most once a second", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const { addKey, folder, makeCurrent } = await makeKeyringFolder();
  const keyring = openKeyring(folder);
  expect(await keyring.currentKeyId()).toBe("k1");
  await addKey("k2");
  await makeCurrent("k2");
  now.mockReturnValue(999);
  expect(await keyring.currentKeyId()).toBe("k1");
  now.mockReturnValue(1000);
  expect(await keyring.currentKeyId()).toBe("k2");
});

it("reads the folder again for a key that it does not know yet", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const { addKey, folder } = await makeKeyringFolder();
  const here = openKeyring(folder);
  expect(await here.currentKeyId()).toBe("k1");
  await addKey("k2");
  const added = await openKeyring(folder).makeDataKey("k2");
  expect(await here.unwrap("k2", added.wrapped)).toEqual(added.key);
});

it("reads a Kubernetes secret as it is mounted, and when it is changed", async () => {
  const { folder: mount } = await makeKeyringFolder();
  const versions = await Promise.all(
    ["k1", "k2"].map(async (keyId) => {
      const version = join(mount, `..${keyId}`);
      await mkdir(version);
      await writeFile(join(version, `${keyId}.key`), Buffer.alloc(32, keyId).toString("base64"));
      await writeFile(join(version, "current"), keyId);
      return version;
    }),
  );
  const [first = "", second = ""] = versions;
  for (const file of ["k1.key", "current"]) {
    await rm(join(mount, file));
    await symlink(join("..data", file), join(mount, file));
  }
  await symlink(first, join(mount, "..data"));
  rereadAtEveryUse();
  const keyring = openKeyring(mount);
  expect(await keyring.currentKeyId()).toBe("k1");
  // The kubelet swaps the link, then the names that differ.
  await symlink(join("..data", "k2.key"), join(mount, "k2.key"));
  await rm(join(mount, "k1.key"));
  await symlink(second, join(mount, "..data_tmp"));
  await rename(join(mount, "..data_tmp"), join(mount, "..data"));
  expect(await keyring.currentKeyId()).toBe("k2");
});

it.each([
  {
    what: "a folder that is missing",
    change: async (folder: string) => {
      await rm(folder, { recursive: true });
      // It is removed with the test.
      onTestFinished(() => mkdir(folder).then(() => {}));
    },
    says: /no such file or directory/,
  },
  {
    what: "a key of another length",
    change: (folder: string) => writeFile(join(folder, "k2.key"), "c2hvcnQ="),
    says: /k2\.key is not a key: write 32 random bytes in Base64 \(openssl rand -base64 32\)/,
  },
  {
    what: "a key that others can write",
    change: (folder: string) => chmod(join(folder, "k1.key"), 0o666),
    says: /k1\.key can be written by others: chmod go-w/,
  },
  {
    what: "a current key that is missing",
    change: (folder: string) => writeFile(join(folder, "current"), "k9"),
    says: /current must contain the id of a key in the folder: one of k1/,
  },
  {
    what: "an id with a blank",
    change: (folder: string) => writeFile(join(folder, "my key.key"), ""),
    says: /the id of a key must have at most 64 letters/,
  },
])("refuses $what, in words that say what to do, and shows no key", async ({ change, says }) => {
  const { folder } = await makeKeyringFolder();
  await change(folder);
  const error: unknown = await openKeyring(folder)
    .currentKeyId()
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: "KeysUnavailable",
    message: expect.stringMatching(says) as unknown,
  });
  expect(String(error)).not.toContain("c2hvcnQ=");
  // The ledger's texts are encrypted by the same keys, after the same checks.
  expect(() => openTextSeal(folder).seal("text")).toThrow(says);
});

it("refuses a data key that was changed, or that another key of the same id has wrapped", async () => {
  const { addKey, folder } = await makeKeyringFolder();
  rereadAtEveryUse();
  const keyring = openKeyring(folder);
  const { wrapped } = await keyring.makeDataKey("k1");
  const changed = Uint8Array.from(wrapped);
  changed.set([(changed[20] ?? 0) ^ 1], 20);
  for (const bytes of [changed, wrapped.subarray(0, 20), new Uint8Array()]) {
    await expect(keyring.unwrap("k1", bytes)).rejects.toMatchObject({
      name: "UndecryptablePayload",
    });
  }
  await addKey("k1");
  await expect(keyring.unwrap("k1", wrapped)).rejects.toThrow("k1 was replaced");
});
