import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { apiKeyIn, rereadFiles, secondsUntilExpiry } from "../src/credentials.ts";
import { makeCertificate } from "./support/certificates.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "credentials-"));
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

/** A key in a file, used as settings do. */
const keyIn = (file: string) => {
  const paths = { KEY_FILE: file };
  const warnings: Array<string> = [];
  const key = rereadFiles({
    paths,
    parse: ({ KEY_FILE: text }) => ({ found: apiKeyIn("KEY_FILE", text) }),
    warn: (message) => warnings.push(message),
  });
  return { key, warnings };
};

const wait = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

describe("a secret in a file", () => {
  it("is read again when it is used, at most once a second, and is the same value until it changes", () => {
    const file = join(folder, "key");
    writeFileSync(file, "first\n");
    const { key, warnings } = keyIn(file);
    const first = key();
    expect(first).toStrictEqual({ found: "first" });
    writeFileSync(file, "second");
    wait(999);
    expect(key()).toBe(first);
    wait(1);
    const second = key();
    expect(second).toStrictEqual({ found: "second" });
    wait(1000);
    expect(key()).toBe(second);
    expect(warnings).toStrictEqual([]);
  });

  it("is that of a Kubernetes secret after its folder was swapped by a symbolic link", () => {
    for (const [version, secret] of Object.entries({ one: "first", two: "second" })) {
      mkdirSync(join(folder, `..${version}`));
      writeFileSync(join(folder, `..${version}`, "key"), secret);
    }
    const data = join(folder, "..data");
    symlinkSync("..one", data);
    symlinkSync("..data/key", join(folder, "key"));
    const { key } = keyIn(join(folder, "key"));
    expect(key()).toStrictEqual({ found: "first" });
    rmSync(data);
    symlinkSync("..two", data);
    wait(1000);
    expect(key()).toStrictEqual({ found: "second" });
  });

  it.each([
    ["is missing", (file: string) => rmSync(file), "KEY_FILE must be the path of a file"],
    [
      "holds none",
      (file: string) => writeFileSync(file, ""),
      "KEY_FILE must name a file with an API key and nothing else",
    ],
  ])("is the one before where the file %s, which is told once", (_, spoil, said) => {
    const file = join(folder, "key");
    writeFileSync(file, "first");
    const { key, warnings } = keyIn(file);
    spoil(file);
    wait(1000);
    expect(key()).toStrictEqual({ found: "first" });
    // It may have been half written.
    expect(warnings).toStrictEqual([]);
    for (let second = 0; second < 5; second++) {
      wait(1000);
      expect(key()).toStrictEqual({ found: "first" });
    }
    expect(warnings).toStrictEqual([
      expect.stringMatching(`^${said}.* The earlier contents remain in use\\.$`),
    ]);
    expect(warnings.join()).not.toContain(folder);
    writeFileSync(file, "second");
    wait(1000);
    expect(key()).toStrictEqual({ found: "second" });
    spoil(file);
    for (let second = 0; second < 3; second++) {
      wait(1000);
      key();
    }
    expect(warnings).toHaveLength(2);
  });
});

describe("seconds until credentials expire", () => {
  const now = Date.now();
  const jwt = (claims: unknown) =>
    ["{}", JSON.stringify(claims), ""]
      .map((part) => Buffer.from(part).toString("base64url"))
      .join(".");

  it("are those of the certificate that expires first, and of a key that says so", () => {
    const [two, nine] = [2, 9].map((validForDays) =>
      makeCertificate({ commonName: "x", validForDays }),
    );
    const left = secondsUntilExpiry(
      {
        cert: `${nine?.cert}\n${two?.cert}`,
        ca: nine?.cert ?? "",
        apiKey: jwt({ exp: now / 1000 - 60 }),
      },
      now,
    );
    expect(Math.round((left.cert ?? 0) / 86_400)).toBe(2);
    expect(Math.round((left.ca ?? 0) / 86_400)).toBe(9);
    expect(Math.round(left.apiKey ?? 0)).toBe(-60);
  });

  it.each([
    {},
    { apiKey: "sk_live_7", ca: "", cert: "-----BEGIN CERTIFICATE-----x-----END CERTIFICATE-----" },
    { apiKey: jwt({}) },
    { apiKey: jwt(null) },
    { apiKey: "a.e30.b" },
  ])("are not known of %j", (credentials) => {
    expect(secondsUntilExpiry(credentials)).toStrictEqual({});
  });
});
