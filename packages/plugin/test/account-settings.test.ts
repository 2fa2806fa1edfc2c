import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CannotStart, type PaymentsSettings } from "../src/index.ts";
import { readAccounts } from "../src/settings/accounts.ts";
import { checkAccounts } from "../src/worker/account.ts";

const folder = mkdtempSync(join(tmpdir(), "account-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SERVICE = { PAYMENTS_BASE_URL: "https://service.example" };

const eu = { clientId: "client-eu", apiKey: "key-eu" };
const us = { clientId: "client-us", apiKey: "key-us" };

const check = async (settings: unknown, variables = {}): Promise<unknown> => {
  const environment = { ...SERVICE, ...variables };
  try {
    // A program without types, or a file, can give anything.
    const given = { journal: "none", ...(settings as PaymentsSettings) };
    const accounts = readAccounts(given, environment);
    await checkAccounts(accounts, environment);
    return [...accounts.keys()];
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error;
    return error.message;
  }
};

const write = (name: string, content: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};

describe("the accounts of a worker", () => {
  it("are those with a name, and the one without where it has a client id", async () => {
    expect(await check({ accounts: { eu, us } })).toEqual(["eu", "us"]);
    expect(await check({ clientId: "c", apiKey: "k", accounts: { eu } })).toEqual([
      undefined,
      "eu",
    ]);
    const environment = { PAYMENTS_CLIENT_ID: "from-environment" };
    expect([...readAccounts({ accounts: { eu } }, environment).keys()]).toEqual([undefined, "eu"]);
    expect([...readAccounts({}, environment).keys()]).toEqual([undefined]);
  });

  it("have the limits and rates of the other settings, unless they have their own, and never the credentials", () => {
    const settings = {
      clientId: "c",
      apiKey: "k",
      maxAmounts: { USD: "10.00" },
      activitiesPerSecond: 5,
      accounts: { eu: { ...eu, maxAmounts: { EUR: "1.00" } }, us },
    };
    const accounts = readAccounts(settings, {});
    expect(accounts.get("eu")).toEqual({
      ...eu,
      maxAmounts: { EUR: "1.00" },
      activitiesPerSecond: 5,
    });
    expect(accounts.get("us")).toEqual({
      ...us,
      maxAmounts: { USD: "10.00" },
      activitiesPerSecond: 5,
    });
  });

  it.each([
    [{ accounts: { EU: eu } }, 'The account "EU" must have a name of 1 to 40 lower-case letters'],
    [{ accounts: { eu: { apiKey: "k" } } }, "The account eu has no clientId"],
    [
      { clientId: "c", apiKey: "k", accounts: { eu: { clientId: "e" } } },
      "The account eu has no apiKey",
    ],
    [
      { accounts: { eu: { ...eu, apikey: "k" } } },
      "The account eu has no setting apikey (is it apiKey?)",
    ],
    [{ accounts: { eu: { ...eu, notify: {} } } }, "The account eu has no setting notify"],
    [
      { accounts: { eu, us: { ...us, clientId: "client-eu" } } },
      "The account us: It has the client id of the account eu",
    ],
    [
      { accounts: { eu, us: { ...us, apiKey: "key-eu" } } },
      "The account us: It has the API key of the account eu",
    ],
    [
      { clientId: "client-eu", apiKey: "k", accounts: { eu } },
      "It has the client id of the account without a name",
    ],
    [
      { accounts: { eu: { ...eu, activitiesPerSecond: 0 } } },
      "The account eu: activitiesPerSecond must be a number above 0",
    ],
    [
      { accounts: { eu: { ...eu, activitiesPerSecond: "2" } } },
      "The account eu: activitiesPerSecond must be a number above 0",
    ],
    [{ accounts: { eu: { ...eu, journal: 7 } } }, "The account eu: journal must be a text"],
    [
      { accounts: { eu: { ...eu, journal: "nowhere" } } },
      "The account eu: The journal of sends cannot be used",
    ],
    [{ accounts: { eu: { ...eu, baseUrl: "nowhere" } } }, "The account eu: "],
    [{ accounts: { eu: { ...eu, maxAmounts: { USD: 5 } } } }, "The account eu: "],
  ])("are refused where they are wrong: %j", async (settings, message) => {
    const said = await check(settings);
    expect(said).toContain(message);
    expect(said).not.toContain("key-eu");
  });

  it("come from a file, with API keys in files of their own", async () => {
    write("us.key", "key-us\n");
    const content = { eu, us: { clientId: "client-us", apiKeyFile: "us.key" } };
    const environment = { PAYMENTS_ACCOUNTS_FILE: write("accounts.json", content) };
    expect(await check({}, environment)).toEqual(["eu", "us"]);
    const { apiKey, ...others } = readAccounts({}, environment).get("us") ?? {};
    expect({ ...others, apiKey: typeof apiKey === "function" && apiKey() }).toEqual(us);
    // What a program gives counts before it.
    expect(await check({ accounts: { eu } }, environment)).toEqual(["eu"]);
  });

  it.each([
    ["{", "holds no JSON"],
    ["[]", "must hold a JSON object"],
    ["{}", "must hold a JSON object"],
    [{ eu: "key-eu" }, "must hold an object of settings for eu"],
    [{ eu: { ...eu, apiKeyFile: "us.key" } }, "must give eu either apiKey or apiKeyFile"],
    [
      { eu: { clientId: "c", apiKeyFile: "key-eu" } },
      "The apiKeyFile of eu in the file of accounts",
    ],
  ])("are refused where the file is wrong, without its content: %j", async (content, message) => {
    const said = await check({}, { PAYMENTS_ACCOUNTS_FILE: write("wrong.json", content) });
    expect(said).toContain(message);
    expect(said).toContain("PAYMENTS_ACCOUNTS_FILE");
    expect(said).not.toContain("key-eu");
  });

  it("are refused where they stand in the place of the file's path, without what they hold", async () => {
    const said = await check({}, { PAYMENTS_ACCOUNTS_FILE: JSON.stringify({ eu }) });
    expect(said).toContain("PAYMENTS_ACCOUNTS_FILE must be the path of a file");
    expect(said).not.toContain("key-eu");
  });
});
