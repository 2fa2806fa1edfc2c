import * as Config from "effect/Config";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import {
  type ClientOptions,
  type ClientSettings,
  defaultClientOptions,
  makeClientOptions,
  writtenSettings,
} from "./config.ts";
import { InvalidSettings } from "./errors.ts";

const parsed = (name: string, text: string): unknown => {
  if (name !== "assumptions") return name in defaultClientOptions ? Number(text) : text;
  try {
    return JSON.parse(text);
  } catch {
    // Not an object: the fault is named with the others.
    return text;
  }
};

/** Every setting; those that are left out or empty are undefined. */
const settings = Config.all(
  Object.fromEntries(
    Object.keys(writtenSettings).map((name) => [
      name,
      Config.String(name).pipe(
        Config.map((text) => (text.trim() === "" ? undefined : parsed(name, text.trim()))),
        Config.withDefault(undefined),
      ),
    ]),
  ),
).pipe(Config.nested("payments"));

/**
 * Reads the settings of a client, and checks them. The `ConfigProvider` of the program, or else these variables, is
 * asked for `PAYMENTS_BASE_URL`, and then for `baseUrl` below `payments`.
 */
export const readEnvironment = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string | undefined>>,
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
  // The check finds what is missing, and what is of another type.
  return yield* Effect.fromResult(makeClientOptions(found as unknown as ClientSettings));
});
