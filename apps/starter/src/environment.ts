/*
 * A project has its addresses and credentials in `.env`, which no shell reads. Each command line that forgot to name it
 * would work on another installation: on the defaults, or on what the shell happens to have. So every command reads it,
 * before it loads anything that looks at a variable; what the environment has already, wins. Only one file is read: with
 * a profile its own, since one installation's ledger with another one's Temporal would look as if nothing had been paid.
 * For the same reason, `npm run dev` in a clone gives its variables only if nothing names another installation.
 */
import { messageOf } from "@durable-payments/client/values";
import { readFileSync } from "node:fs";
import { parseArgs, parseEnv } from "node:util";
import { badUsage } from "./exit-codes.ts";

const OPTIONS = { "env-file": { type: "string" }, profile: { type: "string" } } as const;

const fromFile = new Map<string, string>();

/** The variables that were read from a file, and the file of each. */
export const variablesOfFile: ReadonlyMap<string, string> = fromFile;

/** With one of these, another installation is meant than that of `npm run dev`. */
const INSTALLATION = [
  "TEMPORAL_ADDRESS",
  "TEMPORAL_PROFILE",
  "TEMPORAL_CONFIG_FILE",
  "PAYMENTS_BASE_URL",
  "PAYMENTS_LEDGER",
];

let notDev: string | undefined;

/** Returns why the variables of `npm run dev` are not used; undefined if they are, or are not expected. */
export const whyNotDev = (): string | undefined => notDev;

/** Returns whether the address of Temporal is the default one, or that of `npm run dev`. */
export const isLocalTemporal = (): boolean => {
  const dev = process.env["DURABLE_PAYMENTS_DEV"] ?? "";
  return !process.env["TEMPORAL_ADDRESS"] || fromFile.get("TEMPORAL_ADDRESS") === dev;
};

/** Reads the variables of a running `npm run dev`. */
const readDev = (file: string): NodeJS.Dict<string> => {
  try {
    const variables = parseEnv(readFileSync(file, "utf8"));
    // It throws if there is no such process.
    process.kill(Number(variables["DURABLE_PAYMENTS_DEV_PROCESS"]), 0);
    return variables;
  } catch {
    return {};
  }
};

/** Why there is no such file: it is missing, or a folder of that name. */
const ABSENT = new Set(["ENOENT", "EISDIR", "ENOTDIR"]);

const readFile = (file: string, isAsked: boolean): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (!isAsked && ABSENT.has(code)) return "";
    throw badUsage(`The environment file ${file} cannot be read (${code}). Nothing was done.`);
  }
};

const setFrom = (file: string, variables: NodeJS.Dict<string>): void => {
  for (const [name, value] of Object.entries(variables)) {
    if (process.env[name] !== undefined) continue;
    process.env[name] = value;
    fromFile.set(name, file);
  }
};

const useDev = (file: string): void => {
  const variables = readDev(file);
  const isRunning = Object.keys(variables).length > 0;
  const named = INSTALLATION.find((name) => process.env[name]);
  if (named === undefined) {
    setFrom(file, variables);
    if (!isRunning) notDev = "npm run dev is not running.";
  } else if (isRunning)
    notDev = `The variables of npm run dev are not used, because ${named} is set (${fromFile.get(named) ?? "environment"}).`;
};

/**
 * Reads the environment file into the environment of this process, and chooses Temporal's profile.
 *
 * @param words of the command line.
 * @returns the words without `--env-file` and `--profile`, which may be anywhere.
 * @throws BadUsage if a value is missing, or the file cannot be read.
 */
export const loadEnvironment = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { tokens } = parseArgs({
    args: [...words],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: { profile?: string; "env-file"?: string } = {};
  const taken = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const name = token.name === "env-file" || token.name === "profile" ? token.name : undefined;
    if (name === undefined) continue;
    const { index, inlineValue, value } = token;
    const isName = name === "env-file" ? !value?.startsWith("-") : /^\w[\w.-]*$/.test(value ?? "");
    if (!value || !isName)
      throw badUsage(`--${name} requires ${name === "profile" ? "a name" : "a file"}.`);
    given[name] = value;
    for (const at of inlineValue ? [index] : [index, index + 1]) taken.add(at);
  }
  const { "env-file": asked, profile } = given;
  if (profile !== undefined) process.env["TEMPORAL_PROFILE"] = profile;
  const file = asked ?? (profile === undefined ? ".env" : `.env.${profile}`);
  fromFile.clear();
  setFrom(file, parseEnv(readFile(file, asked !== undefined)));
  const dev = process.env["DURABLE_PAYMENTS_DEV"];
  notDev = undefined;
  if (dev && asked === undefined && profile === undefined) useDev(dev);
  return words.filter((_, index) => !taken.has(index));
};

/** Checks that Temporal's configuration has the profile. @throws BadUsage */
export const checkProfile = async (): Promise<void> => {
  const profile = process.env["TEMPORAL_PROFILE"];
  if (!profile) return;
  const { temporalSettings } = await import("@durable-payments/control/connection");
  try {
    temporalSettings(process.env, {});
  } catch (error) {
    // Other faults are reported by the command.
    if (messageOf(error).includes("not found in config data"))
      throw badUsage(
        `Temporal's configuration (TEMPORAL_CONFIG_FILE) has no profile "${profile}". Nothing was done.`,
      );
  }
};
