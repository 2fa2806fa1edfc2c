import * as Config from "effect/Config";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
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

/** Names of the environment variables that {@link readEnvironment} reads. */
export const environmentVariables: ReadonlyArray<string> = [
  "PAYMENTS_BASE_URL",
  "PAYMENTS_CLIENT_ID",
  "PAYMENTS_API_KEY",
  ...numberNames.map((name) => NUMBERS[name].variable),
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

/** Read and check the settings of a client; every fault is named at once. Those that are given count before the variables. */
export const readEnvironment = (
  given: Partial<ClientSettings>,
): Effect.Effect<ClientOptions, InvalidSettings> =>
  Config.all({
    baseUrl: text("PAYMENTS_BASE_URL"),
    clientId: text("PAYMENTS_CLIENT_ID"),
    apiKey: Config.Redacted("PAYMENTS_API_KEY").pipe(Config.withDefault(Redacted.make(""))),
    ...numbers,
    assumptions: text("PAYMENTS_ASSUMPTIONS"),
  }).pipe(
    Effect.mapError(
      ({ message }) =>
        new InvalidSettings({ message: `The environment cannot be read: ${message}` }),
    ),
    Effect.flatMap((settings) =>
      Effect.fromResult(
        makeClientOptions({
          ...settings,
          assumptions: parseAssumptions(settings.assumptions),
          ...given,
        }),
      ),
    ),
  );
