import {
  type ClientOptions,
  type ClientSettings,
  InvalidSettings,
} from "@durable-payments/client/effect";
import { clientSettingNames, faultsOf, makeClientOptions } from "@durable-payments/client/settings";
import { isRecord } from "@durable-payments/client/values";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { readDuration } from "./inputs.ts";
import { ACCOUNT_NAME_RULE } from "./names.ts";
import { accountSettingNames, SettingsSchema, settingVariables } from "./settings-schema.ts";

export { accountSettingNames, settingVariables } from "./settings-schema.ts";

/** Environment variable that names the settings file. */
export const SETTINGS_FILE = "PAYMENTS_SETTINGS";

/** The settings of an installation, as its file and its environment have them. */
export interface Settings extends Schema.Schema.Type<typeof SettingsSchema> {}

const HOUR_MS = 3_600_000;

/** Returns how long after the end of its payment date a payout is late, in milliseconds. */
export const lateAfterMsOf = ({ lateAfterHours = 24 }: Settings["notify"] = {}): number =>
  lateAfterHours * HOUR_MS;

/** Returns for how long a payout is watched after it completed, in milliseconds; undefined if the settings leave it out. */
export const watchedForMsOf = ({
  watchCompletedFor: given,
}: Pick<Settings, "watchCompletedFor">): number | undefined =>
  given === undefined ? undefined : readDuration(given);

type Environment = Readonly<Record<string, string | undefined>>;

const invalid = (message: string): InvalidSettings => new InvalidSettings({ message });

/**
 * Checks settings; an unknown one is refused, since a misspelt limit would be no limit.
 *
 * @param given settings by name.
 * @param nameOf a setting, as the message names it.
 * @throws InvalidSettings with every fault, and no value.
 */
export const checkSettings = (given: unknown, nameOf: (field: string) => string): Settings => {
  const checked = Schema.decodeUnknownResult(SettingsSchema, {
    errors: "all",
    onExcessProperty: "error",
  })(given);
  if (Result.isSuccess(checked)) return checked.success;
  const faults = faultsOf(checked.failure.issue).map(({ field, problem }) =>
    /^accounts\.[^.]*$/.test(field) && problem.startsWith("is not a known name")
      ? `${nameOf(field)} must have a name of ${ACCOUNT_NAME_RULE}.`
      : `${nameOf(field)} ${problem.replace(/^must be a (?=[ao])/, "must be an ")}.`,
  );
  throw invalid([...new Set(faults)].join(" "));
};

/** Paths of the file are relative to its folder. */
const inFolder = (folder: string, value: unknown): unknown => {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => {
      const isPath =
        /File$|^keyring$/.test(name) || (name === "dataConverter" && String(given).startsWith("."));
      return [
        name,
        isPath && typeof given === "string" ? resolve(folder, given) : inFolder(folder, given),
      ];
    }),
  );
};

const readFile = (file: string): Settings => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    // It is not repeated: it may be the content itself.
    throw invalid(`${SETTINGS_FILE} must be the path of a file that exists and can be read.`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // A SyntaxError repeats a part of the file, which may be a secret.
    throw invalid(`The settings file (${SETTINGS_FILE}) is not valid JSON.`);
  }
  const nameOf = (field: string) =>
    field === ""
      ? `The settings file (${SETTINGS_FILE})`
      : `${field} in the settings file (${SETTINGS_FILE})`;
  return checkSettings(inFolder(dirname(resolve(file)), json), nameOf);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A limit that is blank, or given twice, must not be another limit than it seems. */
const amountsIn = (text: string): unknown => {
  const json = parsed(text);
  const isEachOnce = isRecord(json) && text.split(":").length - 1 === Object.keys(json).length;
  return isEachOnce ? json : undefined;
};

/** The variables that are not texts of their settings. A limit that is blank must not be no limit. */
const PARSE: Readonly<Record<string, (text: string) => unknown>> = {
  assumptions: (text) => parsed(text) ?? text,
  maxAmounts: (text) => amountsIn(text) ?? null,
  approveAbove: (text) => amountsIn(text) ?? null,
  allowPlainTextTemporal: (text) => ({ true: true, false: false })[text] ?? text,
  logLevel: (text) => text.toUpperCase(),
};

const readVariables = (environment: Environment): Settings => {
  const given: Record<string, unknown> = {};
  for (const [name, variable] of settingVariables) {
    const text = environment[variable]?.trim();
    const isBlank = text === "" && name !== "maxAmounts" && name !== "approveAbove";
    if (text === undefined || isBlank) continue;
    const value = PARSE[name] === undefined ? text : PARSE[name](text);
    const [group = "", field] = name.split(".");
    const others = isRecord(given[group]) ? given[group] : {};
    given[group] = field === undefined ? value : { ...others, [field]: value };
  }
  return checkSettings(given, (field) => {
    const [name = "", inner] = field.split(".");
    return settingVariables.get(field) ?? `${settingVariables.get(name)} (${inner})`;
  });
};

/** Only one of these counts: if the upper settings have one, those of the lower settings are ignored. */
const EITHER = ["apiKey", "apiKeyFile"] as const;

/**
 * Lays settings over others.
 *
 * @returns each setting of `upper`, and those of `lower` that it leaves out.
 */
export const layOver = <A extends object, B extends object>(lower: A, upper: B): A & B => {
  const given = Object.entries(upper).filter(([, value]) => value !== undefined);
  const names = new Set(given.map(([name]) => name));
  const isGiven = EITHER.some((one) => names.has(one));
  const left = Object.entries(lower).filter(
    ([name]) => !isGiven || EITHER.every((one) => one !== name),
  );
  const groups = ["hints", "notify"].flatMap((group) => {
    const [below, above]: ReadonlyArray<unknown> = [lower, upper].map((settings) =>
      Reflect.get(settings, group),
    );
    return isRecord(below) && isRecord(above) ? [[group, { ...below, ...above }]] : [];
  });
  // Each property comes from one of the two.
  return Object.fromEntries([...left, ...given, ...groups]) as A & B;
};

/**
 * Reads the settings of an installation: those of the file that `PAYMENTS_SETTINGS` names, and over them those of the
 * environment.
 *
 * @param environment variables by name.
 * @returns the settings; what is left out has its default.
 * @throws InvalidSettings that names every fault and repeats no value.
 */
export const readSettings = (environment: Environment): Settings => {
  const file = environment[SETTINGS_FILE]?.trim() ?? "";
  const ofEnvironment = readVariables(environment);
  return file === "" ? ofEnvironment : layOver(readFile(file), ofEnvironment);
};

/** Settings of one account with the payment service. */
export interface AccountSettings
  extends
    Partial<ClientSettings>,
    Pick<Settings, "activitiesPerSecond" | "approveAbove" | "maxAmounts"> {}

const ofNamed = (name: string, own: AccountSettings, common: AccountSettings): AccountSettings => {
  if (!own.clientId || !(own.apiKey || own.apiKeyFile)) {
    const missing = own.clientId ? "apiKey" : "clientId";
    throw invalid(`The account ${name} has no ${missing}: each account needs its own credentials.`);
  }
  const { apiKey: _key, apiKeyFile: _file, clientId: _client, ...shared } = common;
  return layOver(shared, own);
};

/**
 * Lists the accounts of settings. An account with a name takes what it leaves out from the others, except credentials.
 *
 * @returns them by name; undefined for the one without a name, which is there if it has a client id or is the only one.
 * @throws InvalidSettings if an account has no credentials.
 */
export const accountsOf = ({
  accounts = {},
  ...settings
}: AccountSettings & {
  readonly accounts?: Readonly<Record<string, AccountSettings>>;
}): ReadonlyMap<string | undefined, AccountSettings> => {
  const isOfAccount = (name: string) =>
    accountSettingNames.includes(name) || clientSettingNames.includes(name);
  // The names decide.
  const unnamed = Object.fromEntries(
    Object.entries(settings).filter(([name]) => isOfAccount(name)),
  ) as AccountSettings;
  const named = Object.entries(accounts).map(
    ([name, account]) => [name, ofNamed(name, account, unnamed)] as const,
  );
  const isOpen = unnamed.clientId !== undefined || named.length === 0;
  return new Map<string | undefined, AccountSettings>([
    ...(isOpen ? ([[undefined, unnamed]] as const) : []),
    ...named,
  ]);
};

/**
 * Checks the settings of the client of an account.
 *
 * @param account as the settings have it; nothing else counts, except the proxy of the environment.
 * @returns the client's options; fails with `InvalidSettings`.
 */
export const clientOptionsOf = (
  account: AccountSettings,
): Result.Result<ClientOptions, InvalidSettings> => {
  const settings = Object.entries(account).filter(([name]) => clientSettingNames.includes(name));
  // The check finds what is missing.
  return makeClientOptions(Object.fromEntries(settings) as unknown as ClientSettings);
};
