import { ConfigProvider, Effect, Exit, Option, Redacted, Result } from "effect";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type ClientSettings, makeClientOptions } from "../src/client/config.ts";
import { currentTls } from "../src/client/current-credentials.ts";
import { environmentVariables } from "../src/client/environment.ts";
import {
  clientOptionsFromEnvironment,
  clientOptionsWithEnvironment,
  currentApiKey,
  defaultAssumptions,
  defaultClientOptions,
  makeAssumptions,
  makePaymentsClient,
  PaymentsClient,
} from "../src/index.ts";
import { makeCertificate } from "./support/certificates.ts";
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
    [undefined, "must be an absolute URL"],
    ["http://payments.example", "must begin with https://"],
    ["http://127.0.0.1.payments.example", "must begin with https://"],
    ["http://localhost.payments.example", "must begin with https://"],
    ["http://0.0.0.0", "must begin with https://"],
    ["http://10.0.0.1", "must begin with https://"],
    ["ftp://localhost", "must begin with https://"],
    ["https://user:secret@payments.example", "must carry no credentials"],
    ["https://payments.example?key=secret", "must carry no credentials, no query"],
    ["https://payments.example#x", "no fragment"],
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
    ["requestTimeoutMs", "PAYMENTS_REQUEST_TIMEOUT_MS", 1, 2 ** 31 - 1],
    ["maxAttempts", "PAYMENTS_MAX_ATTEMPTS", 1, 100],
    ["retryBaseMs", "PAYMENTS_RETRY_BASE_MS", 0, 2 ** 31 - 1],
    ["maxRetryWaitMs", "PAYMENTS_MAX_RETRY_WAIT_MS", 0, 2 ** 31 - 1],
    ["requestsPerSecond", "PAYMENTS_REQUESTS_PER_SECOND", 0, 100_000],
    ["maxConnections", "PAYMENTS_MAX_CONNECTIONS", 1, 10_000],
  ] as const;

  it.each(numbers)("%s is a number within its bounds", (name, variable, least, most) => {
    expect(faultsOf({ [name]: least })).toBe("");
    expect(faultsOf({ [name]: most })).toBe("");
    for (const wrong of [least - 1, most + 1, Number.NaN, Number.POSITIVE_INFINITY, "5", null]) {
      // An absent setting has its default.
      if (wrong === null) continue;
      expect(faultsOf({ [name]: wrong })).toContain(`${variable} (${name}) must be a `);
    }
    const isWhole = name !== "requestsPerSecond";
    expect(faultsOf({ [name]: least + 0.5 }) !== "").toBe(isWhole);
  });

  it.each(["", " ", "two words", "line\nbreak", "schlüssel", undefined, 7])(
    "client id and API key are texts that a header can carry, not %j",
    (value) => {
      expect(faultsOf({ clientId: value })).toContain(
        "PAYMENTS_CLIENT_ID (clientId) must be given",
      );
      expect(faultsOf({ apiKey: value })).toContain("PAYMENTS_API_KEY (apiKey) must be given");
    },
  );

  it.each(['"client-7"', "'client-7'", '""'])(
    "client id and API key stand without quotation marks: %s",
    (value) => {
      const without = "must be given without the quotation marks";
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
    for (const name of ["BASE_URL", "CLIENT_ID", "API_KEY", "MAX_ATTEMPTS", "ASSUMPTIONS"]) {
      expect(said).toContain(`PAYMENTS_${name}`);
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
  });

  it("are those of another client, too", () => {
    const logger = { debug: () => undefined, warn: () => undefined };
    const hooks = { onRequest: () => undefined, onResponse: () => undefined };
    const made = Result.getOrThrow(makeClientOptions({ ...settings, ...hooks, logger }));
    expect(Result.getOrThrow(makeClientOptions(made))).toStrictEqual(made);
    expect(made).toMatchObject({ ...hooks, logger });
  });

  it.each([
    ["maxAttemps", "is it maxAttempts?"],
    ["max_attempts", "is it maxAttempts?"],
    ["timeoutMs", "is it requestTimeoutMs?"],
    ["url", "is it baseUrl?"],
    ["clientid", "is it clientId?"],
    ["onResponce", "is it onResponse?"],
    ["constructor", "it takes baseUrl, clientId, apiKey,"],
    ["nonsense", "it takes baseUrl, clientId, apiKey,"],
  ])("with an unknown name, %s, are refused: %s", (name, hint) => {
    const said = faultsOf({ [name]: "secret-value" });
    expect(said).toContain(`${name} is not a setting of a client`);
    expect(said).toContain(hint);
    expect(said).not.toContain("secret-value");
  });

  it.each([undefined, null, "https://payments.example", 7, []])(
    "that are no object, %j, are refused by what is missing",
    async (none) => {
      // A caller without types.
      const client = makePaymentsClient(none as unknown as ClientSettings);
      await expect(client.ping()).rejects.toThrow("needs an object of settings: baseUrl, clientId");
      await client.close();
    },
  );

  it.each([
    ["logger", console.log, "logger must have the functions debug and warn"],
    ["logger", null, "logger must have the functions debug and warn"],
    ["logger", { warn: () => undefined }, "logger must have the functions debug and warn"],
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
    [{ a: 1, b: 2 }, "a: is not a known field; b: is not a known field"],
  ])("must not be %j", (overrides, fault) => {
    const made = makeAssumptions(overrides);
    expect(Result.isFailure(made) && made.failure.message).toContain(fault);
  });
});

const fromEnvironment = (env: Record<string, string>) =>
  Effect.runPromiseExit(
    clientOptionsFromEnvironment.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    ),
  );

const tlsFromEnvironment = async (env: Record<string, string>) =>
  Exit.match(await fromEnvironment(env), {
    onFailure: () => undefined,
    onSuccess: (options) => currentTls(options),
  });

const REQUIRED = {
  PAYMENTS_BASE_URL: "https://payments.example",
  PAYMENTS_CLIENT_ID: "client-7",
  PAYMENTS_API_KEY: "key",
};

describe("the environment", () => {
  it("needs three variables; the others have defaults, empty ones too", async () => {
    const empty = Object.fromEntries(
      environmentVariables.filter((name) => !(name in REQUIRED)).map((name) => [name, ""]),
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

  it("sets every setting", async () => {
    const exit = await fromEnvironment({
      ...REQUIRED,
      PAYMENTS_REQUEST_TIMEOUT_MS: "1000",
      PAYMENTS_MAX_ATTEMPTS: "2",
      PAYMENTS_RETRY_BASE_MS: "3",
      PAYMENTS_MAX_RETRY_WAIT_MS: "4",
      PAYMENTS_REQUESTS_PER_SECOND: "0.5",
      PAYMENTS_MAX_CONNECTIONS: "6",
      PAYMENTS_PROXY: "http://proxy.example:3128",
      PAYMENTS_ASSUMPTIONS: '{"rejectedTokenCodes":[403]}',
    });
    expect(exit).toMatchObject({
      _tag: "Success",
      value: {
        requestTimeoutMs: 1000,
        maxAttempts: 2,
        retryBaseMs: 3,
        maxRetryWaitMs: 4,
        requestsPerSecond: 0.5,
        maxConnections: 6,
        proxy: Redacted.make("http://proxy.example:3128"),
        assumptions: { ...defaultAssumptions, rejectedTokenCodes: [403] },
      },
    });
  });

  it.each([
    [{}, ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY"]],
    [{ ...REQUIRED, PAYMENTS_MAX_ATTEMPTS: "many" }, ["PAYMENTS_MAX_ATTEMPTS"]],
    [{ ...REQUIRED, PAYMENTS_ASSUMPTIONS: "{" }, ["PAYMENTS_ASSUMPTIONS"]],
    [{ ...REQUIRED, PAYMENTS_ASSUMPTIONS: "7" }, ["PAYMENTS_ASSUMPTIONS"]],
    [{ ...REQUIRED, PAYMENTS_BASE_URL: "http://payments.example" }, ["PAYMENTS_BASE_URL"]],
  ])("is refused with every wrong variable named: %j", async (env, names) => {
    const exit = await fromEnvironment(env);
    expect(exit).toMatchObject({ _tag: "Failure" });
    const written = JSON.stringify(exit);
    expect(environmentVariables.filter((name) => written.includes(name))).toStrictEqual(names);
  });

  it("names the files of certificates and key, whose texts are the settings", async () => {
    const { cert, key } = makeCertificate({ commonName: "client-7" });
    const folder = await mkdtemp(join(tmpdir(), "certificates-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "client.pem"), cert);
    await writeFile(join(folder, "client.key"), key);
    const files = {
      PAYMENTS_CA_FILE: join(folder, "client.pem"),
      PAYMENTS_CLIENT_CERT_FILE: join(folder, "client.pem"),
      PAYMENTS_CLIENT_KEY_FILE: join(folder, "client.key"),
    };
    expect(await tlsFromEnvironment({ ...REQUIRED, ...files })).toStrictEqual({
      ca: cert,
      cert,
      key: Redacted.make(key),
    });
    const swapped = { ...files, PAYMENTS_CA_FILE: files.PAYMENTS_CLIENT_KEY_FILE };
    const written = JSON.stringify(await fromEnvironment({ ...REQUIRED, ...swapped }));
    expect(written).toContain("PAYMENTS_CA_FILE (tls.ca) must be the text of certificates in PEM");
    expect(written).not.toContain(key.slice(60, 90));
    const missing = { ...files, PAYMENTS_CLIENT_KEY_FILE: join(folder, "none.key") };
    expect(JSON.stringify(await fromEnvironment({ ...REQUIRED, ...missing }))).toMatch(
      /PAYMENTS_CLIENT_KEY_FILE must be the path of a file: it is missing or cannot be read/,
    );
  });

  it("names the file of the API key, or the key itself, and not both", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keys-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "api-key");
    const { PAYMENTS_API_KEY: _key, ...others } = REQUIRED;
    const env = { ...others, PAYMENTS_API_KEY_FILE: file };
    await writeFile(file, "key-of-file\r\n");
    const options = Exit.getSuccess(await fromEnvironment(env));
    expect(Option.map(options, (found) => Redacted.value(currentApiKey(found)))).toStrictEqual(
      Option.some("key-of-file"),
    );
    const both = JSON.stringify(await fromEnvironment({ ...REQUIRED, ...env }));
    expect(both).toContain("PAYMENTS_API_KEY and PAYMENTS_API_KEY_FILE are both set");
    await writeFile(file, "secret with spaces");
    for (const wrong of [file, "secret with spaces", folder]) {
      const exit = await fromEnvironment({ ...others, PAYMENTS_API_KEY_FILE: wrong });
      const written = JSON.stringify(exit) + inspect(exit, { depth: 9, showHidden: true });
      expect(written).toMatch(/PAYMENTS_API_KEY_FILE must/);
      expect(written).not.toContain("PAYMENTS_API_KEY (apiKey)");
      expect(written).not.toContain("secret with spaces");
      expect(written).not.toContain(folder);
    }
  });

  it("is refused with every fault where the text of a key stands in the place of a path, without the text", async () => {
    const { cert, key } = makeCertificate({ commonName: "client-7" });
    const [bare = ""] = key.split("\n").slice(1);
    for (const text of [key, bare]) {
      const env = {
        ...REQUIRED,
        PAYMENTS_MAX_ATTEMPTS: "0",
        PAYMENTS_CA_FILE: cert,
        PAYMENTS_CLIENT_CERT_FILE: "client.pem",
        PAYMENTS_CLIENT_KEY_FILE: text,
      };
      const exit = await fromEnvironment(env);
      const written = JSON.stringify(exit) + inspect(exit, { depth: 9, showHidden: true });
      for (const name of ["CA_FILE", "CLIENT_CERT_FILE", "CLIENT_KEY_FILE"]) {
        expect(written).toContain(`PAYMENTS_${name} must be the path of a file`);
      }
      expect(written).toContain("PAYMENTS_MAX_ATTEMPTS (maxAttempts) must be");
      expect(written).not.toContain(bare);
      expect(written).not.toContain(cert.split("\n")[1]);
    }
  });

  it("counts for what is left out, and for what is undefined; a certificate and its key belong together", async () => {
    const { cert, key } = makeCertificate({ commonName: "client-7" });
    const folder = await mkdtemp(join(tmpdir(), "certificates-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "client.pem"), cert);
    await writeFile(join(folder, "client.key"), key);
    const env = {
      ...REQUIRED,
      PAYMENTS_PROXY: "none",
      HTTPS_PROXY: "http://proxy.example",
      PAYMENTS_CA_FILE: join(folder, "client.pem"),
      PAYMENTS_CLIENT_CERT_FILE: join(folder, "client.pem"),
      PAYMENTS_CLIENT_KEY_FILE: join(folder, "client.key"),
    };
    const withGiven = async (given: object) => {
      const options = await Effect.runPromise(
        clientOptionsWithEnvironment(given).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
        ),
      );
      return { ...options, tls: currentTls(options) };
    };
    const tls = { ca: cert, cert, key: Redacted.make(key) };
    const nothing = {
      clientId: undefined,
      proxy: undefined,
      tls: undefined,
      maxAttempts: undefined,
    };
    expect(await withGiven(nothing)).toMatchObject({ clientId: "client-7", proxy: false, tls });
    const own = makeCertificate({ commonName: "client-8" });
    const given = { cert: own.cert, key: own.key };
    expect(await withGiven({ tls: given })).toMatchObject({
      tls: { ca: cert, cert: own.cert, key: Redacted.make(own.key) },
    });
    expect(await withGiven({ tls: { ca: own.cert } })).toMatchObject({
      tls: { ...tls, ca: own.cert },
    });
    await expect(withGiven({ tls: { cert: own.cert } })).rejects.toThrow("tls.key");
  });

  it.each([
    [{ HTTPS_PROXY: "http://proxy.example" }, Redacted.make("http://proxy.example")],
    [{ HTTPS_PROXY: "http://proxy.example", NO_PROXY: "payments.example" }, false],
    [{ HTTPS_PROXY: "http://proxy.example", PAYMENTS_PROXY: "none" }, false],
    [{ HTTPS_PROXY: "http://proxy.example", PAYMENTS_PROXY: " None " }, false],
    [{ HTTPS_PROXY: "http://proxy.example", PAYMENTS_PROXY: "false" }, false],
    [
      { HTTPS_PROXY: "http://proxy.example", PAYMENTS_PROXY: "http://own.example" },
      Redacted.make("http://own.example"),
    ],
  ])("chooses the proxy: %j", async (env, proxy) => {
    const exit = await fromEnvironment({ ...REQUIRED, ...env });
    expect(exit).toMatchObject({ _tag: "Success", value: { proxy } });
  });

  it("is listed in .env.example: each variable once, with its default, and no other", async () => {
    const example = await readFile(new URL("../../../.env.example", import.meta.url), "utf8");
    const [client = ""] = example.split("# The worker and the starter");
    const lines = client.split("\n").filter((line) => /^#?\s?PAYMENTS_\w+=/.test(line));
    const listed = lines.map((line): [string, string] => {
      const [name = "", value = ""] = line.replace(/^#\s?/, "").split("=", 2);
      return [name, value];
    });
    expect(listed.map(([name]) => name)).toStrictEqual([...environmentVariables]);
    // Taken as it stands, it gives the defaults.
    const exit = await fromEnvironment({ ...Object.fromEntries(listed), ...REQUIRED });
    expect(exit).toMatchObject({ _tag: "Success", value: defaultClientOptions });
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
          Effect.provide(PaymentsClient.layerFromEnvironment),
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
      await Effect.runPromise(Effect.provide(pong, PaymentsClient.layerFromEnvironment));
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
      return Effect.runPromise(Effect.provide(pong, PaymentsClient.layerFromEnvironment));
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
    const client = makePaymentsClient({ ...settings, clientId: "" });
    await expect(client.ping()).rejects.toMatchObject({ _tag: "InvalidSettings" });
    await expect(client.ping()).rejects.toThrow("PAYMENTS_CLIENT_ID");
    await client.close();
  });
});
