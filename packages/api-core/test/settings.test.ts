import { ConfigProvider, Effect, Exit, Redacted, Result } from "effect";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type ClientSettings,
  clientVariables,
  defaultClientOptions,
  makeClientOptions,
} from "../src/client/config.ts";
import { readEnvironment } from "../src/client/environment.ts";
import { makeAssumptions } from "../src/contract/make-assumptions.ts";
import { defaultAssumptions, PaymentsClient } from "../src/effect.ts";
import { createClient } from "../src/index.ts";
import { makeCertificate, tlsFiles } from "./support/certificates.ts";
import { answers } from "./support/responses.ts";
import { settingsFor } from "./support/client.ts";
import { startServer } from "./support/server.ts";

const settings = settingsFor("https://payments.example");

const faultsOf = (changes: Partial<Record<keyof ClientSettings, unknown>>): string => {
  // Settings of a caller without types.
  const made = makeClientOptions({ ...settings, ...changes } as ClientSettings);
  return Result.isFailure(made) ? made.failure.message : "";
};

describe("the base URL", () => {
  it.each([
    "https://payments.example",
    "https://payments.example/",
    "https://payments.example:8443/gateway",
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "http://127.9.9.9",
    "http://[::1]:3000",
  ])("may be %s", (baseUrl) => {
    expect(faultsOf({ baseUrl })).toBe("");
  });

  it.each([
    ["", "must be an absolute URL"],
    ["payments.example", "must be an absolute URL"],
    [undefined, "must be a string"],
    ["http://payments.example", "must begin with https://"],
    ["http://127.0.0.1.payments.example", "must begin with https://"],
    ["http://localhost.payments.example", "must begin with https://"],
    ["http://0.0.0.0", "must begin with https://"],
    ["http://10.0.0.1", "must begin with https://"],
    ["ftp://localhost", "must begin with https://"],
    ["https://user:secret@payments.example", "must not contain credentials"],
    ["https://payments.example?key=secret", "must not contain credentials, a query"],
    ["https://payments.example#x", "or a fragment"],
    ["https://payments.example/api/v1", "must end before /api/v1"],
    ["https://payments.example/api/v1/", "must end before /api/v1"],
  ])("must not be %s", (baseUrl, fault) => {
    const said = faultsOf({ baseUrl });
    expect(said).toContain("PAYMENTS_BASE_URL (baseUrl)");
    expect(said).toContain(fault);
    expect(said).not.toContain("secret");
  });
});

describe("the settings", () => {
  const numbers = [
    ["requestTimeoutMs", 1, 2 ** 31 - 1],
    ["maxAttempts", 1, 100],
    ["retryBaseMs", 0, 2 ** 31 - 1],
    ["maxRetryWaitMs", 0, 2 ** 31 - 1],
    ["requestsPerSecond", 0, 100_000],
    ["maxConnections", 1, 10_000],
  ] as const;

  it.each(numbers)("%s is a number within its bounds", (name, least, most) => {
    expect(faultsOf({ [name]: least })).toBe("");
    expect(faultsOf({ [name]: most })).toBe("");
    for (const wrong of [least - 1, most + 1, Number.NaN, Number.POSITIVE_INFINITY, "5", null]) {
      // An absent setting has its default.
      if (wrong === null) continue;
      expect(faultsOf({ [name]: wrong })).toContain(`${name} must be a `);
    }
    const isWhole = name !== "requestsPerSecond";
    expect(faultsOf({ [name]: least + 0.5 }) !== "").toBe(isWhole);
  });

  it.each(["", " ", "two words", "line\nbreak", "schlüssel", 7])(
    "client id and API key are texts that a header can carry, not %j",
    (value) => {
      expect(faultsOf({ clientId: value })).toContain("PAYMENTS_CLIENT_ID (clientId) must be");
      expect(faultsOf({ apiKey: value })).toContain("PAYMENTS_API_KEY (apiKey) must be");
    },
  );

  it("need a key, or the file of one, and not both", () => {
    const names = "PAYMENTS_API_KEY (apiKey) %s PAYMENTS_API_KEY_FILE (apiKeyFile)";
    expect(faultsOf({ apiKey: undefined })).toBe(`${names.replace("%s", "or")} must be set.`);
    expect(faultsOf({ apiKeyFile: "key" })).toContain(`${names.replace("%s", "and")} are both set`);
    expect(faultsOf({ clientId: undefined })).toContain("PAYMENTS_CLIENT_ID (clientId)");
  });

  it.each(['"client-7"', "'client-7'", '""'])(
    "client id and API key stand without quotation marks: %s",
    (value) => {
      const without = "must not be enclosed in quotation marks";
      expect(faultsOf({ clientId: value })).toContain(`PAYMENTS_CLIENT_ID (clientId) ${without}`);
      expect(faultsOf({ apiKey: value })).toContain(`PAYMENTS_API_KEY (apiKey) ${without}`);
    },
  );

  it("are all named at once where they are wrong, without the key", () => {
    const said = faultsOf({
      baseUrl: "x",
      clientId: "",
      apiKey: "se cret",
      maxAttempts: 0,
      assumptions: { nonsense: 1 },
    });
    for (const name of ["baseUrl", "clientId", "apiKey", "maxAttempts", "assumptions"]) {
      expect(said).toContain(name);
    }
    expect(said).not.toContain("se cret");
  });

  it("come with defaults, and take a redacted key", () => {
    const apiKey = Redacted.make("k");
    const made = Result.getOrThrow(makeClientOptions({ ...settings, apiKey }));
    expect(made).toStrictEqual({
      ...defaultClientOptions,
      baseUrl: "https://payments.example",
      clientId: "client-7",
      retryBaseMs: 1,
      apiKey,
    });
    expect(inspect(Result.getOrThrow(makeClientOptions(settings)), { depth: 9 })).not.toContain(
      settings.apiKey,
    );
  });

  it("are those of another client, too", () => {
    const logger = { debug: () => undefined, warn: () => undefined };
    const hooks = { onRequest: () => undefined, onResponse: () => undefined };
    const made = Result.getOrThrow(makeClientOptions({ ...settings, ...hooks, logger }));
    expect(Result.getOrThrow(makeClientOptions(made))).toStrictEqual(made);
    expect(made).toMatchObject({ ...hooks, logger });
  });

  it.each([
    ["maxAttemps", "did you mean maxAttempts?"],
    ["max_attempts", "did you mean maxAttempts?"],
    ["timeoutMs", "did you mean requestTimeoutMs?"],
    ["url", "did you mean baseUrl?"],
    ["clientid", "did you mean clientId?"],
    ["onResponce", "did you mean onResponse?"],
    ["constructor", "known: baseUrl, clientId, apiKey,"],
    ["nonsense", "known: baseUrl, clientId, apiKey,"],
  ])("with an unknown name, %s, are refused: %s", (name, hint) => {
    const said = faultsOf({ [name]: "secret-value" });
    expect(said).toContain(`${name} is not a known name (`);
    expect(said).toContain(hint);
    expect(said).not.toContain("secret-value");
  });

  it.each([undefined, null, "https://payments.example", 7, []])(
    "that are no object, %j, are refused by what is missing",
    async (none) => {
      // A caller without types.
      const client = createClient(none as never);
      await expect(client.ping()).rejects.toThrow(
        "needs an object with at least the settings baseUrl, clientId",
      );
      await client.close();
    },
  );

  it.each([
    ["logger", console.log, "logger must be an object with the functions debug and warn"],
    ["logger", null, "logger must be an object with the functions debug and warn"],
    [
      "logger",
      { warn: () => undefined },
      "logger must be an object with the functions debug and warn",
    ],
    ["onRequest", "log", "onRequest must be a function"],
    ["onResponse", {}, "onResponse must be a function"],
  ])("%s must not be %s", (name, value, fault) => {
    expect(faultsOf({ [name]: value })).toContain(fault);
  });
});

describe("the assumptions", () => {
  it.each([
    [{}, defaultAssumptions],
    [{ updateBeneficiaryMethod: "PUT" }, { ...defaultAssumptions, updateBeneficiaryMethod: "PUT" }],
    [
      { listPayoutsParameters: { start: "from" } },
      {
        ...defaultAssumptions,
        listPayoutsParameters: { ...defaultAssumptions.listPayoutsParameters, start: "from" },
      },
    ],
  ])("lie over the defaults: %j", (overrides, expected) => {
    expect(Result.getOrThrow(makeAssumptions(overrides))).toStrictEqual(expected);
  });

  it.each([
    [null, "must be a JSON object"],
    [[], "must be a JSON object"],
    ["{}", "must be a JSON object"],
    [{ nonsense: 1 }, "nonsense: "],
    [{ listPayoutsParameters: { begin: "x" } }, "listPayoutsParameters.begin: "],
    [{ listPayoutsParameters: { start: "" } }, "listPayoutsParameters.start: "],
    [{ updateBeneficiaryMethod: "DELETE" }, "updateBeneficiaryMethod: "],
    [{ alreadySoRefusals: { cancelCard: "[" } }, "alreadySoRefusals.cancelCard: "],
    [{ alreadySoRefusals: { createPayout: "x" } }, "alreadySoRefusals.createPayout: "],
    [
      { notCarriedOutStatuses: [409] },
      "notCarriedOutStatuses.0: must be from 400 to 599, and not 409",
    ],
    [{ tokenLifetimeSeconds: 0 }, "tokenLifetimeSeconds: "],
    [{ amountFractionDigits: -1 }, "amountFractionDigits: "],
    [{ deliveryAddressField: "" }, "deliveryAddressField: "],
    [{ timezone: "UTC" }, "timezone: is not a known name (did you mean timeZone?)"],
    [
      { alreadySoRefusals: { freezeCards: [] } },
      "alreadySoRefusals.freezeCards: is not a known name (did you mean freezeCard?)",
    ],
  ])("must not be %j", (overrides, fault) => {
    const made = makeAssumptions(overrides);
    expect(Result.isFailure(made) && made.failure.message).toContain(fault);
  });
});

const REQUIRED = {
  PAYMENTS_BASE_URL: "https://payments.example",
  PAYMENTS_CLIENT_ID: "client-7",
  PAYMENTS_API_KEY: "key",
};

const fromProvider = (provider: ConfigProvider.ConfigProvider) =>
  Effect.runPromiseExit(
    readEnvironment({}).pipe(Effect.provideService(ConfigProvider.ConfigProvider, provider)),
  );

const fromEnvironment = (env: Record<string, string>) =>
  fromProvider(ConfigProvider.fromEnv({ env }));

const variables = Object.values(clientVariables);

describe("the environment", () => {
  it("needs three variables; the others have defaults, empty ones too", async () => {
    const empty = Object.fromEntries(
      variables.filter((name) => !(name in REQUIRED)).map((name) => [name, ""]),
    );
    for (const env of [REQUIRED, { ...REQUIRED, ...empty }]) {
      expect(await fromEnvironment(env)).toStrictEqual(
        Exit.succeed({
          ...defaultClientOptions,
          baseUrl: "https://payments.example",
          clientId: "client-7",
          apiKey: Redacted.make("key"),
        }),
      );
    }
  });

  it("sets every setting that is a text or a number, as another ConfigProvider does", async () => {
    const files = tlsFiles(makeCertificate({ commonName: "client-7" }));
    const payments = {
      baseUrl: "https://payments.example",
      clientId: "client-7",
      apiKey: "key",
      requestTimeoutMs: 1000,
      maxAttempts: 2,
      retryBaseMs: 3,
      maxRetryWaitMs: 4,
      requestsPerSecond: 0.5,
      maxConnections: 6,
      proxy: "http://proxy.example:3128",
      assumptions: '{"rejectedTokenCodes":[403]}',
      ...files,
    };
    const variable = (name: string) =>
      `PAYMENTS_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
    const env = Object.fromEntries(
      Object.entries(payments).map(([name, value]) => [variable(name), String(value)]),
    );
    const expected = Exit.succeed({
      ...payments,
      apiKey: Redacted.make("key"),
      proxy: Redacted.make("http://proxy.example:3128"),
      assumptions: { ...defaultAssumptions, rejectedTokenCodes: [403] },
    });
    expect(await fromEnvironment(env)).toStrictEqual(expected);
    expect(await fromProvider(ConfigProvider.fromUnknown({ payments }))).toStrictEqual(expected);
  });

  it.each([
    [{}, ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID"]],
    [{ ...REQUIRED, PAYMENTS_API_KEY: "" }, ["PAYMENTS_API_KEY", "PAYMENTS_API_KEY_FILE"]],
    [{ ...REQUIRED, PAYMENTS_ASSUMPTIONS: "{" }, ["PAYMENTS_ASSUMPTIONS"]],
    [{ ...REQUIRED, PAYMENTS_ASSUMPTIONS: "7" }, ["PAYMENTS_ASSUMPTIONS"]],
    [{ ...REQUIRED, PAYMENTS_BASE_URL: "http://payments.example" }, ["PAYMENTS_BASE_URL"]],
  ])("is refused with every wrong variable named: %j", async (env, names) => {
    const exit = await fromEnvironment(env);
    expect(exit).toMatchObject({ _tag: "Failure" });
    const written = JSON.stringify(exit);
    expect(variables.filter((name) => written.includes(`${name} (`))).toStrictEqual(names);
  });

  it("is refused where the text of a key stands in the place of a path, without the text", async () => {
    const { PAYMENTS_API_KEY: _key, ...others } = REQUIRED;
    const env = { ...others, PAYMENTS_API_KEY_FILE: "secret-with-a-typo" };
    const exit = await fromEnvironment(env);
    const written = JSON.stringify(exit) + inspect(exit, { depth: 9, showHidden: true });
    expect(written).toMatch(/PAYMENTS_API_KEY_FILE \(apiKeyFile\) must be the path of a file/);
    expect(written).not.toContain("secret-with-a-typo");
  });

  it("may say that there is no proxy", async () => {
    expect(await fromEnvironment({ ...REQUIRED, PAYMENTS_PROXY: "none" })).toMatchObject({
      value: { proxy: false },
    });
  });
});

describe("both ways of use", () => {
  it("a layer with settings", async () => {
    await using server = await startServer(() => answers.ping);
    const pong = PaymentsClient.use((client) => client.ping());
    expect(
      await Effect.runPromise(Effect.provide(pong, PaymentsClient.layer(settingsFor(server.url)))),
    ).toStrictEqual({ message: "pong" });
  });

  it("a layer from the environment", async () => {
    await using server = await startServer(() => answers.ping);
    const env = { ...REQUIRED, PAYMENTS_BASE_URL: server.url };
    const pong = PaymentsClient.use((client) => client.ping());
    expect(
      await Effect.runPromise(
        pong.pipe(
          Effect.provide(PaymentsClient.layerConfig),
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
        ),
      ),
    ).toStrictEqual({ message: "pong" });
    expect(server.signIns[0]?.headers).toMatchObject({
      "x-client-id": "client-7",
      "x-api-key": "key",
    });
  });

  it("a layer from the environment as it is when the layer is built", async () => {
    await using former = await startServer(() => answers.ping);
    await using current = await startServer(() => answers.ping);
    const pong = PaymentsClient.use((client) => client.ping());
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    for (const [name, value] of Object.entries(REQUIRED)) vi.stubEnv(name, value);
    for (const { url } of [former, current]) {
      vi.stubEnv("PAYMENTS_BASE_URL", url);
      await Effect.runPromise(Effect.provide(pong, PaymentsClient.layerConfig));
    }
    expect([former.signIns.length, current.signIns.length]).toStrictEqual([1, 1]);
  });

  it("layers from the environment that are built at once, each of the variables that were set for it", async () => {
    await using server = await startServer(() => answers.ping);
    const pong = PaymentsClient.use((client) => client.ping());
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    vi.stubEnv("PAYMENTS_BASE_URL", server.url);
    const ping = (account: string) => {
      vi.stubEnv("PAYMENTS_CLIENT_ID", account);
      vi.stubEnv("PAYMENTS_API_KEY", `key-${account}`);
      return Effect.runPromise(Effect.provide(pong, PaymentsClient.layerConfig));
    };
    const both = Promise.all([ping("eu"), ping("us")]);
    vi.stubEnv("PAYMENTS_API_KEY", undefined);
    await both;
    const accounts = server.signIns.map(({ headers }) => headers["x-client-id"]);
    expect(new Set(accounts)).toStrictEqual(new Set(["eu", "us"]));
  });

  it("a layer with settings as they were when it was made, through the proxy that is set when it is built", async () => {
    await using server = await startServer(() => answers.ping);
    const changing = { ...settingsFor(server.url), clientId: "eu" };
    const layer = PaymentsClient.layer(changing);
    changing.clientId = "us";
    const pong = PaymentsClient.use((client) => client.ping());
    await Effect.runPromise(Effect.provide(pong, layer));
    expect(server.signIns[0]?.headers).toMatchObject({ "x-client-id": "eu" });
    const away = PaymentsClient.layer({ ...settings, maxAttempts: 1 });
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    vi.stubEnv("https_proxy", undefined);
    vi.stubEnv("HTTPS_PROXY", "ftp://proxy.example");
    const exit = await Effect.runPromiseExit(Effect.provide(pong, away));
    expect(JSON.stringify(exit)).toContain("HTTPS_PROXY must be the address of an HTTP proxy");
  });

  it("plain promises, which reject with the fault of the settings", async () => {
    const client = createClient({ ...settings, clientId: "" });
    await expect(client.ping()).rejects.toMatchObject({ _tag: "InvalidSettings" });
    await expect(client.ping()).rejects.toThrow("PAYMENTS_CLIENT_ID");
    await client.close();
  });
});
