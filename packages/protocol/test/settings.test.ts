import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Result } from "effect";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  accountsOf,
  clientOptionsOf,
  readSettings,
  settingVariables,
  watchedForMsOf,
} from "../src/settings.ts";
import { docs, namesIn, settingsPage, settingsSchema } from "./support/settings-documents.ts";

const folder = () => {
  const path = mkdtempSync(join(tmpdir(), "settings-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

const fileOf = (content: string, inside = folder()) => {
  const file = join(inside, "settings.json");
  writeFileSync(file, content);
  return { PAYMENTS_SETTINGS: file };
};

const withFile = (settings: object) => fileOf(JSON.stringify(settings));

describe("settings", () => {
  it("come from the file, under those of the environment", () => {
    const file = withFile({
      $schema: "https://example.com/settings.schema.json",
      clientId: "of-the-file",
      apiKeyFile: "key",
      ledger: "memory",
      notify: { url: "https://alerts.example", intervalSeconds: 5 },
      maxAmounts: { EUR: "1.00" },
    });
    const environment = {
      PAYMENTS_ASSUMPTIONS: '{"listLagSeconds": 5}',
      PAYMENTS_CLIENT_ID: "of-the-environment",
      PAYMENTS_API_KEY: "key",
      PAYMENTS_NOTIFY_SECRET: "whsec_",
      PAYMENTS_MAX_AMOUNTS: '{"USD": "10.00"}',
      PAYMENTS_LEDGER: " ",
    };
    expect(readSettings({ ...file, ...environment })).toEqual({
      $schema: "https://example.com/settings.schema.json",
      clientId: "of-the-environment",
      apiKey: "key",
      assumptions: { listLagSeconds: 5 },
      ledger: "memory",
      notify: { url: "https://alerts.example", intervalSeconds: 5, secret: "whsec_" },
      maxAmounts: { USD: "10.00" },
    });
  });

  it.each([
    [{}, undefined],
    [{ watchCompletedFor: "0" }, 0],
    [{ watchCompletedFor: "45 days" }, 45 * 86_400_000],
  ])("say how long a payout is watched after it completed: %j", (settings, ms) => {
    expect(watchedForMsOf(readSettings(withFile(settings)))).toBe(ms);
  });

  it("of a file name other files from its folder", () => {
    const inside = folder();
    const settings = { accounts: { eu: { apiKeyFile: "eu.key" } }, keyring: "/keys" };
    expect(readSettings(fileOf(JSON.stringify(settings), inside))).toEqual({
      accounts: { eu: { apiKeyFile: join(inside, "eu.key") } },
      keyring: "/keys",
    });
  });

  it.each([
    [{ maxAmount: {} }, /^maxAmount in the settings file .* \(did you mean maxAmounts\?\)\.$/],
    [{ notify: { overduHours: 1 } }, /^notify\.overduHours .* \(did you mean overdueHours\?\)\.$/],
    [
      { accounts: { eu: { clientID: "" } } },
      /^accounts\.eu\.clientID .* \(did you mean clientId\?\)\.$/,
    ],
    [{ accounts: { EU: {} } }, /^accounts\.EU in the settings file/],
    [{ activitiesPerSecond: -1 }, /must be a number above 0\.$/],
    [{ notify: { overdueHours: "soon" } }, /^notify\.overdueHours .* must be/],
    [{ maxAttempts: 0 }, /^maxAttempts .* must be a whole number from 1 to 100\.$/],
    [
      { watchCompletedFor: "91 days" },
      /^watchCompletedFor .* must be a duration, such as "30 days"/,
    ],
    [{ watchCompletedFor: "soon" }, /^watchCompletedFor .* must be a duration, such as "30 days"/],
    [[], /must be an object\.$/],
  ])("that are invalid are refused: %j", (settings, message) => {
    expect(() => readSettings(withFile(settings))).toThrow(message);
  });

  it.each(['{"USD": 1}', "", "[]", '{"usd": "1.00"}', '{"USD": "1", "USD": "2"}'])(
    "of a limit that is not a limit are refused: %s",
    (text) => {
      expect(() => readSettings({ PAYMENTS_MAX_AMOUNTS: text })).toThrow(/^PAYMENTS_MAX_AMOUNTS/);
    },
  );

  it.each(["t0ken", "{t0ken", '{"healthAddress": "t0ken:t0ken"}', '{"keyring": {"t0ken": 1}}'])(
    "that are invalid are not repeated: %s",
    (content) => {
      const read = () => readSettings(fileOf(content));
      expect(read).toThrow(/PAYMENTS_SETTINGS/);
      expect(read).not.toThrow(/t0ken:|\{t0ken/);
      expect(() => readSettings({ PAYMENTS_SETTINGS: content })).not.toThrow(/t0ken/);
    },
  );
});

describe("accounts", () => {
  const eu = { clientId: "eu", apiKey: "key of eu" };

  it("take what they leave out from the others, except credentials", () => {
    const accounts = accountsOf({
      baseUrl: "https://payments.example",
      clientId: "home",
      apiKeyFile: "home.key",
      maxAmounts: { EUR: "1.00" },
      accounts: { eu },
    });
    expect(accounts.get("eu")).toEqual({
      baseUrl: "https://payments.example",
      maxAmounts: { EUR: "1.00" },
      ...eu,
    });
    expect([...accounts.keys()]).toEqual([undefined, "eu"]);
    expect([...accountsOf({ accounts: { eu } }).keys()]).toEqual(["eu"]);
  });

  it.each([
    [{ clientId: "eu" }, "has no apiKey"],
    [{ apiKeyFile: "key" }, "has no clientId"],
  ])("need credentials of their own: %j", (account, message) => {
    const settings = { clientId: "home", apiKey: "key", accounts: { eu: account } };
    expect(() => accountsOf(settings)).toThrow(message);
  });

  it("have a client of their own credentials", () => {
    const key = join(folder(), "key");
    writeFileSync(key, "key of the file\n".replaceAll(" ", "-"));
    const account = { baseUrl: "https://payments.example", clientId: "c", apiKeyFile: key };
    const options = Result.getOrThrow(clientOptionsOf(account));
    expect(options).toMatchObject({ clientId: "c", apiKeyFile: key });
    expect(options.apiKey).toBeUndefined();
    const direct = clientOptionsOf({ ...account, proxy: "none" });
    expect(Result.getOrThrow(direct).proxy).toBe(false);
  });
});

describe("the documents of the settings are current (vitest -u renews them)", () => {
  it("docs/settings.md", async () => {
    await expect(settingsPage()).toMatchFileSnapshot("../../../docs/settings.md");
  });

  it("docs/settings.schema.json, for editors", async () => {
    await expect(settingsSchema()).toMatchFileSnapshot("../../../docs/settings.schema.json");
  });

  it("each setting has a docstring, and each variable a setting", () => {
    const names = namesIn();
    expect(names.filter((name) => !docs.get(name)?.description)).toStrictEqual([]);
    expect([...settingVariables.keys()].filter((name) => !names.includes(name))).toStrictEqual([]);
  });

  it("there are fewer than 25 variables", () => {
    expect(settingVariables.size).toBeLessThan(25);
  });
});
