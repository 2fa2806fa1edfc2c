import * as Config from "effect/Config";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import {
  type ClientOptions,
  type ClientSettings,
  defaultClientOptions,
  InvalidSettings,
  makeClientOptions,
  writtenSettings,
} from "./config.ts";

const NUMBERS = Object.keys(defaultClientOptions).filter((name) => name !== "assumptions");

/** Every setting as a text; those that are left out or empty are undefined. */
const settings = Config.all(
  Object.fromEntries(
    Object.keys(writtenSettings).map((name) => [
      name,
      Config.String(name).pipe(
        Config.map((text) => text.trim() || undefined),
        Config.withDefault(undefined),
      ),
    ]),
  ),
).pipe(Config.nested("payments"));

const parsed = (name: string, text: string): unknown => {
  if (NUMBERS.includes(name)) return Number(text);
  if (name !== "assumptions") return text;
  try {
    return JSON.parse(text);
  } catch {
    // Not an object: the fault is named with the others.
    return text;
  }
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of a client that are not given, and checks all of them. The `ConfigProvider` of the program, or
 * else these variables, is asked for `PAYMENTS_BASE_URL`, and then for `baseUrl` below `payments`.
 */
export const readEnvironment = Effect.fnUntraced(function* (
  given: Partial<ClientSettings>,
  environment: Environment,
): Effect.fn.Return<ClientOptions, InvalidSettings> {
  const provider =
    Context.getOrUndefined(yield* Effect.context(), ConfigProvider.ConfigProvider) ??
    // Effect's default reads the variables once per process.
    ConfigProvider.fromEnvRecord({ ...environment });
  const found = yield* settings
    .parse(ConfigProvider.orElse(ConfigProvider.constantCase(provider), provider))
    .pipe(
      Effect.mapError(
        ({ message }) =>
          new InvalidSettings({ message: `The environment cannot be read: ${message}` }),
      ),
    );
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const read = Object.entries(found).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, parsed(name, text)] as const],
  );
  // One way to give the key replaces the other one.
  const hasKey = "apiKey" in own || "apiKeyFile" in own;
  const used = read.filter(([name]) => !(hasKey && name.startsWith("apiKey")));
  // The check finds what is missing, and what is of another type.
  const merged = { ...Object.fromEntries(used), ...own } as unknown as ClientSettings;
  return yield* Effect.fromResult(makeClientOptions(merged));
});
