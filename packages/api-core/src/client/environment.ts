import * as Config from "effect/Config";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { apiKeyIn, readFiles, rereadFiles } from "../credentials/reread-files.ts";
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
import { checkTls } from "./current-credentials.ts";
import type { Environment } from "./proxy.ts";
import { makeSay } from "./say.ts";
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

/** Variables that name a file, and what it is for. */
const FILES = {
  apiKey: "PAYMENTS_API_KEY_FILE",
  ca: "PAYMENTS_CA_FILE",
  cert: "PAYMENTS_CLIENT_CERT_FILE",
  key: "PAYMENTS_CLIENT_KEY_FILE",
} as const;

// The object's own keys.
const fileNames = Object.keys(FILES) as ReadonlyArray<keyof typeof FILES>;

/** What every program reads that goes through a proxy. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"] as const;

/** Names of the environment variables that {@link readEnvironment} reads. */
export const environmentVariables: ReadonlyArray<string> = [
  "PAYMENTS_BASE_URL",
  "PAYMENTS_CLIENT_ID",
  "PAYMENTS_API_KEY",
  FILES.apiKey,
  ...numberNames.map((name) => NUMBERS[name].variable),
  "PAYMENTS_PROXY",
  FILES.ca,
  FILES.cert,
  FILES.key,
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

/** A setting that names a file. */
type FileName = keyof typeof FILES;

/** The texts of the files that variables name. */
type FileTexts = Partial<Record<FileName, string>>;

/** What the files hold that are named, and what is wrong with the others. */
const readNamed = (paths: Readonly<Record<FileName, string>>) => {
  const faults: Array<string> = [];
  const texts: FileTexts = {};
  for (const name of fileNames) {
    if (paths[name].trim() === "") continue;
    try {
      texts[name] = readFiles({ [FILES[name]]: paths[name] })[FILES[name]] ?? "";
    } catch (error) {
      faults.push(messageOf(error));
    }
  }
  return { faults, texts };
};

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
  { ca, cert, key }: FileTexts,
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

/** The API key of a file, or what is wrong with it. */
const keyIn = (content: string): Result.Result<string, string> =>
  Result.try({ try: () => apiKeyIn(FILES.apiKey, content), catch: messageOf });

const orThrow = <A>(checked: Result.Result<A, string>): A =>
  Result.getOrThrowWith(checked, (fault) => new Error(fault));

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
      files: Config.all({
        apiKey: text(FILES.apiKey),
        ca: text(FILES.ca),
        cert: text(FILES.cert),
        key: text(FILES.key),
      }),
      environment: Config.all(variables(PROXY_VARIABLES)),
    }).pipe(Effect.provideServiceEffect(ConfigProvider.ConfigProvider, providerOf(env))),
    ({ message }) => new InvalidSettings({ message: `The environment cannot be read: ${message}` }),
  );
  const { proxy, ...others } = settings;
  const { tls: givenTls, ...own } = withoutUndefined(given);
  const keyFile = own.apiKey === undefined ? files.apiKey : "";
  const { faults, texts } = readNamed({ ...files, apiKey: keyFile });
  const keyOfFile = texts.apiKey === undefined ? undefined : keyIn(texts.apiKey);
  if (keyOfFile !== undefined && Result.isFailure(keyOfFile)) faults.push(keyOfFile.failure);
  if (keyFile.trim() !== "" && Redacted.value(settings.apiKey) !== "") {
    faults.push("PAYMENTS_API_KEY and PAYMENTS_API_KEY_FILE are both set: set one of them.");
  }
  const tls = typeof givenTls === "function" ? givenTls : withGivenTls(texts, givenTls);
  const options = makeClientOptions(
    {
      ...others,
      // Of a file that is missing, or whose pair is, that is the fault: the key itself is none.
      ...(keyFile.trim() !== "" && {
        apiKey: Result.getOrElse(keyOfFile ?? Result.fail(undefined), () => "unread"),
      }),
      ...(tls !== undefined && faults.length === 0 && { tls }),
      ...(proxy.trim() !== "" && { proxy }),
      assumptions: parseAssumptions(settings.assumptions),
      ...own,
    },
    environment,
  );
  if (faults.length > 0 || Result.isFailure(options)) {
    const all = Result.isFailure(options) ? [...faults, options.failure.message] : faults;
    return yield* new InvalidSettings({ message: all.join(" ") });
  }
  const run = Effect.runForkWith(yield* Effect.context());
  const say = makeSay(options.success.logger);
  const reread = <A>(names: ReadonlyArray<FileName>, parse: (texts: FileTexts) => A) => {
    const byVariable = (values: FileTexts) =>
      Object.fromEntries(names.map((name) => [FILES[name], values[name] ?? ""]));
    return rereadFiles({
      paths: byVariable(files),
      contents: byVariable(texts),
      parse: (found) =>
        parse(Object.fromEntries(names.map((name) => [name, found[FILES[name]] ?? ""]))),
      warn: (message) => run(say.warn(message)),
    });
  };
  const ofTls = fileNames.filter((name) => name !== "apiKey" && texts[name] !== undefined);
  return {
    ...options.success,
    ...(texts.apiKey !== undefined && {
      apiKey: reread(["apiKey"], ({ apiKey = "" }) => Redacted.make(orThrow(keyIn(apiKey)))),
    }),
    ...(typeof givenTls !== "function" &&
      ofTls.length > 0 && {
        tls: reread(ofTls, (found) =>
          orThrow(
            Result.mapError(
              checkTls(withGivenTls(found, givenTls) ?? {}, options.success.baseUrl),
              (wrong) => wrong.join(" "),
            ),
          ),
        ),
      }),
  };
});
