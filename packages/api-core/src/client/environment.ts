import { readFile } from "node:fs/promises";
import * as Config from "effect/Config";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
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
import type { Environment } from "./proxy.ts";
import type { TlsSettings } from "./tls.ts";

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

/** The text of the file that a variable names, and what is wrong with it. */
interface FileOfVariable {
  /** Undefined where the variable names none. */
  readonly content?: string;
  readonly fault?: string;
}

/** What it names is not repeated: somebody may have given the key itself. */
const readFileOf = (variable: string, path: string): Effect.Effect<FileOfVariable> =>
  path.trim() === ""
    ? Effect.succeed({})
    : Effect.tryPromise(() => readFile(path, "utf8")).pipe(
        Effect.match({
          onSuccess: (content) => ({ content }),
          onFailure: () => ({
            fault: `${variable} must be the path of a file: it is missing or cannot be read.`,
          }),
        }),
      );

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

/** A client certificate and its key belong together, so that those that are given count alone. */
const withGivenTls = (
  { ca, cert, key }: Partial<Record<keyof typeof FILES, string>>,
  given: TlsSettings = {},
): TlsSettings | undefined => {
  const hasOwn = given.cert !== undefined || given.key !== undefined;
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(!hasOwn && cert !== undefined && { cert }),
    ...(!hasOwn && key !== undefined && { key }),
    ...given,
  };
  return Object.keys(tls).length === 0 ? undefined : tls;
};

const withoutUndefined = <A extends object>(settings: A): Partial<A> =>
  // Without types a setting may be given as undefined, which is left out.
  Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Partial<A>;

/** The provider that the program has set, or else one of these variables: Effect's default reads them once per process. */
const providerOf = (environment: Environment): Effect.Effect<ConfigProvider.ConfigProvider> =>
  Effect.map(
    Effect.context(),
    (context) =>
      Context.getOrUndefined(context, ConfigProvider.ConfigProvider) ??
      ConfigProvider.fromEnvRecord({ ...environment }),
  );

/** Read and check the settings of a client; every fault is named at once. Those that are given count before the variables. */
export const readEnvironment = Effect.fnUntraced(function* (
  given: Partial<ClientSettings>,
  env: Environment,
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
    }).pipe(Effect.provideServiceEffect(ConfigProvider.ConfigProvider, providerOf(env))),
    ({ message }) => new InvalidSettings({ message: `The environment cannot be read: ${message}` }),
  );
  const { proxy, ...others } = settings;
  const [ca, cert, key] = yield* Effect.all([
    readFileOf(FILES.ca, files.ca),
    readFileOf(FILES.cert, files.cert),
    readFileOf(FILES.key, files.key),
  ]);
  const { tls: givenTls, ...own } = withoutUndefined(given);
  const faults = [ca, cert, key].flatMap(({ fault }) => fault ?? []);
  const tls = withGivenTls(
    {
      ...(ca.content !== undefined && { ca: ca.content }),
      ...(cert.content !== undefined && { cert: cert.content }),
      ...(key.content !== undefined && { key: key.content }),
    },
    givenTls,
  );
  const options = makeClientOptions(
    {
      ...others,
      // Of a pair of files one of which is missing, the fault is the missing one.
      ...(tls !== undefined && faults.length === 0 && { tls }),
      ...(proxy.trim() !== "" && { proxy }),
      assumptions: parseAssumptions(settings.assumptions),
      ...own,
    },
    environment,
  );
  if (faults.length === 0) return yield* Effect.fromResult(options);
  const all = Result.isFailure(options) ? [...faults, options.failure.message] : faults;
  return yield* new InvalidSettings({ message: all.join(" ") });
});
