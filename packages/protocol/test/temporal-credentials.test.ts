import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  readTemporalConfiguration,
  rereadApiKey,
  temporalSecondsUntilExpiry,
} from "../src/temporal-connection.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "temporal-credentials-"));
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const written = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

const configured = (
  file: string,
  ofSdk: { readonly apiKey?: string; readonly tls?: boolean } = {},
) =>
  readTemporalConfiguration({ TEMPORAL_API_KEY_FILE: file }, () => ({
    connectionOptions: { address: "localhost:7233", ...ofSdk },
  })).connectionOptions;

describe("TEMPORAL_API_KEY_FILE", () => {
  it("gives the key, and TLS as a key of the SDK's own configuration does", () => {
    const file = written("key", "key-of-file\n");
    expect(configured(file)).toMatchObject({ apiKey: "key-of-file", tls: true });
    expect(configured(file, { tls: false })).toMatchObject({ apiKey: "key-of-file", tls: false });
    expect(configured("")).toStrictEqual({ address: "localhost:7233" });
  });

  it("is refused beside a key", () => {
    expect(() => configured(written("key", "one"), { apiKey: "other" })).toThrow(
      "TEMPORAL_API_KEY (or api_key of the profile) and TEMPORAL_API_KEY_FILE are both set",
    );
  });

  it.each(["", "two words", "line\nline"])("is refused where its file holds %j", (content) => {
    expect(() => configured(written("key", content))).toThrow(
      /^TEMPORAL_API_KEY_FILE must name a file with an API key and nothing else\.$/,
    );
  });

  it("is refused where it names no file, without what it names", () => {
    expect(() => configured("the-key-itself")).toThrow(
      /^TEMPORAL_API_KEY_FILE must be the path of a file that exists and can be read\.$/,
    );
  });

  it("is read again when the key is used", () => {
    const file = written("key", "first");
    const key = rereadApiKey({ TEMPORAL_API_KEY_FILE: file }, () => undefined);
    expect(key?.()).toBe("first");
    written("key", "second");
    vi.advanceTimersByTime(1000);
    expect(key?.()).toBe("second");
    expect(rereadApiKey({}, () => undefined)).toBeUndefined();
  });
});

it("how long an API key is good is known where it says so", () => {
  const claims = Buffer.from(JSON.stringify({ exp: Date.now() / 1000 + 3600 })).toString(
    "base64url",
  );
  expect(temporalSecondsUntilExpiry({ apiKey: `e30.${claims}.`, tls: true }).apiKey).toBeCloseTo(
    3600,
    -1,
  );
  expect(temporalSecondsUntilExpiry({ tls: null })).toStrictEqual({});
});
