import { readFile } from "node:fs/promises";
import * as Config from "effect/Config";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import { messageOf } from "../values.ts";
import {
  type ClientOptions,
  type ClientSettings,
  defaultNumbers,
  InvalidSettings,
  makeClientOptions,
  type NumberName,
  numberNames,
  NUMBERS,
} from "./config.ts";

// Left out and empty are the same here, and are reported together with every other fault.
const text = (variable: string) => Config.String(variable).pipe(Config.withDefault(""));

const numbers = Object.fromEntries(
  numberNames.map((name) => [
    name,
    text(NUMBERS[name].variable).pipe(
      Config.map((value) => (value.trim() === "" ? defaultNumbers[name] : Number(value))),
    ),
  ]),
  // One entry for each of the names.
) as Record<NumberName, Config.Config<number>>;

/** Variables that name a file in PEM, and what it is for. */
const FILES = {
  ca: "PAYMENTS_CA_FILE",
  cert: "PAYMENTS_CLIENT_CERT_FILE",
  key: "PAYMENTS_CLIENT_KEY_FILE",
} as const;

/** What every program reads that goes through a proxy. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"] as const;

/** Names of the environment variables that {@link readEnvironment} reads. */
export const environmentVariables: ReadonlyArray<string> = [
  "PAYMENTS_BASE_URL",
  "PAYMENTS_CLIENT_ID",
  "PAYMENTS_API_KEY",
  ...numberNames.map((name) => NUMBERS[name].variable),
  "PAYMENTS_PROXY",
  ...Object.values(FILES),
  "PAYMENTS_ASSUMPTIONS",
];

const parseAssumptions = (json: string): unknown => {
  try {
    return json.trim() === "" ? {} : JSON.parse(json);
  } catch {
    // No object: the fault is named with the others.
    return null;
  }
};

const cannotRead = (problem: string) =>
  new InvalidSettings({ message: `The environment cannot be read: ${problem}` });

/** The text of the file that a variable names; undefined where it names none. */
const readFileOf = (
  variable: string,
  path: string,
): Effect.Effect<string | undefined, InvalidSettings> =>
  path.trim() === ""
    ? Effect.succeed(undefined)
    : Effect.tryPromise({
        try: () => readFile(path, "utf8"),
        catch: (error) =>
          cannotRead(`${variable} names a file that cannot be read: ${messageOf(error)}`),
      });

const variables = (names: ReadonlyArray<string>) =>
  Object.fromEntries(
    names.map((name) => [
      name,
      Config.String(name).pipe(
        Config.map((value): string | undefined => value),
        Config.withDefault(undefined),
      ),
    ]),
  );

/** The certificates and the key in the files that the variables name; undefined where they name none. */
const readTls = Effect.fnUntraced(function* (files: Readonly<Record<keyof typeof FILES, string>>) {
  const ca = yield* readFileOf(FILES.ca, files.ca);
  const cert = yield* readFileOf(FILES.cert, files.cert);
  const key = yield* readFileOf(FILES.key, files.key);
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  return Object.keys(tls).length === 0 ? undefined : tls;
});

/**
 * The provider that the program has set, or else the environment as it is now: Effect's default keeps what
 * the environment was when anything first asked for it.
 */
const currentProvider: Effect.Effect<ConfigProvider.ConfigProvider> = Effect.map(
  Effect.context(),
  (context) =>
    Context.getOrUndefined(context, ConfigProvider.ConfigProvider) ?? ConfigProvider.fromEnv(),
);

/** Read and check the settings of a client; every fault is named at once. Those that are given count before the variables. */
export const readEnvironment = Effect.fnUntraced(function* (
  given: Partial<ClientSettings>,
): Effect.fn.Return<ClientOptions, InvalidSettings> {
  const { environment, files, ...settings } = yield* Effect.mapError(
    Config.all({
      baseUrl: text("PAYMENTS_BASE_URL"),
      clientId: text("PAYMENTS_CLIENT_ID"),
      apiKey: Config.Redacted("PAYMENTS_API_KEY").pipe(Config.withDefault(Redacted.make(""))),
      ...numbers,
      proxy: text("PAYMENTS_PROXY"),
      assumptions: text("PAYMENTS_ASSUMPTIONS"),
      files: Config.all({ ca: text(FILES.ca), cert: text(FILES.cert), key: text(FILES.key) }),
      environment: Config.all(variables(PROXY_VARIABLES)),
    }).pipe(Effect.provideServiceEffect(ConfigProvider.ConfigProvider, currentProvider)),
    ({ message }) => cannotRead(message),
  );
  const tls = yield* readTls(files);
  const { proxy, ...others } = settings;
  return yield* Effect.fromResult(
    makeClientOptions(
      {
        ...others,
        ...(tls !== undefined && { tls }),
        ...(proxy.trim() !== "" && { proxy }),
        assumptions: parseAssumptions(settings.assumptions),
        ...given,
      },
      environment,
    ),
  );
});
