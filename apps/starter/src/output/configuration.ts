/*
 * A setting has four places: the environment, the environment file, the settings file and its default. If a command works
 * on another installation than its user thinks, then one of them has a value that nobody looked at. Each may hold a secret,
 * even in a path or an address. So a value is shown only if its form proves that it is not a secret.
 */
import { isRecord, messageOf } from "@durable-payments/client/values";
import { temporalSettings } from "@durable-payments/control/connection";
import { LEDGER_VARIABLE } from "@durable-payments/ledger";
import { readSettings, SETTINGS_FILE, settingVariables } from "@durable-payments/protocol/settings";
import { existsSync, readFileSync } from "node:fs";
import { variablesOfFile, whyNotDev } from "../environment.ts";
import { noteLines, styled, table } from "./text.ts";

/** A setting as it counts. */
interface Setting {
  readonly name: string;
  /** The value, or why it is not shown. */
  readonly value: string;
  /** `environment`, `default`, or the file that has it. */
  readonly from: string;
  /** The variable, if it comes from one. */
  readonly variable: string | null;
}

/** The effective settings, and what is wrong with them. */
export type Configuration = ReturnType<typeof readConfiguration>;

const HIDDEN = "(hidden)";

const SECRET = /(?:api_?key|secret|password|token|_data|meta_\w+)$/i;

const shown = (name: string, value: unknown): string => {
  if (SECRET.test(name)) return HIDDEN;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // Somebody may have given the content of a file instead of its path.
  if (/(?:(?<!pro)file|_path|keyring|dataConverter|settings)$/i.test(name))
    return existsSync(text) ? text : "(no such file)";
  const url = URL.parse(text);
  if (url?.host) return `${url.protocol}//${url.host}${/ledger/i.test(name) ? url.pathname : ""}`;
  return /[@?]/.test(text) ? HIDDEN : text;
};

/** The settings of a file by their names: `notify.url`, `accounts.eu.clientId`. */
const leavesOf = (value: unknown, name: string): ReadonlyArray<readonly [string, unknown]> =>
  isRecord(value) && !/(?:maxAmounts|approveAbove|assumptions)$/.test(name)
    ? Object.entries(value).flatMap(([field, inner]) =>
        leavesOf(inner, name === "" ? field : `${name}.${field}`),
      )
    : [[name, value]];

const inFile = (file: string): ReadonlyArray<readonly [string, unknown]> => {
  try {
    return leavesOf(JSON.parse(readFileSync(file, "utf8")), "");
  } catch {
    // `readSettings` says what is wrong with it.
    return [];
  }
};

const problemOf = (read: () => unknown): ReadonlyArray<string> => {
  try {
    read();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
};

const KEYS = ["apiKey", "apiKeyFile"];

/** Returns the settings of this process, where each comes from, and their faults. */
export const readConfiguration = () => {
  const environment = process.env;
  const file = environment[SETTINGS_FILE]?.trim() ?? "";
  // Its profile may have another address and namespace than the default.
  let temporal: Partial<ReturnType<typeof temporalSettings>> = {};
  const problems = [
    ...problemOf(() => readSettings(environment)),
    ...problemOf(() => (temporal = temporalSettings(environment, {}))),
  ];
  const ofTemporal = Object.keys(environment)
    .filter((name) => name.startsWith("TEMPORAL_") && name !== "TEMPORAL_UI_URL")
    .map((name) => [name, name] as const);
  const others = [SETTINGS_FILE, "PAYMENTS_PERSON"].map((name) => [name, name] as const);
  const given = [...others, ...settingVariables, ...ofTemporal]
    .filter(([, variable]) => environment[variable]?.trim())
    .map(([name, variable]): Setting => {
      const isWrong = problems.some((problem) => problem.includes(variable));
      const value = isWrong ? "(invalid)" : shown(name, environment[variable]?.trim());
      return { name, value, from: variablesOfFile.get(variable) ?? "environment", variable };
    });
  const names = new Set(given.map(({ name }) => name));
  const hasKey = KEYS.some((name) => names.has(name));
  const ofFile = inFile(file)
    .filter(([name]) => !names.has(name) && !(hasKey && KEYS.includes(name)) && name !== "$schema")
    .map(([name, value]): Setting => ({
      name,
      value: shown(name, value),
      from: file,
      variable: null,
    }));
  const known = new Set([...names, ...ofFile.map(({ name }) => name)]);
  const defaults = [
    ["ledger", `a file per client id (${LEDGER_VARIABLE})`],
    ["taskQueue", "payments"],
    ["TEMPORAL_ADDRESS", "localhost:7233", temporal.address],
    ["TEMPORAL_NAMESPACE", "default", temporal.namespace],
  ] as const;
  const unset = defaults
    .filter(([name]) => !known.has(name))
    .map(([name, usual, found = usual]): Setting => {
      const from = found === usual ? "default" : "profile";
      return { name, value: shown(name, found), from, variable: null };
    });
  const why = whyNotDev();
  const notes = why === undefined ? [] : [why];
  return { settings: [...given, ...ofFile, ...unset], problems, notes };
};

/** Returns the settings for a person. */
export const configurationText = ({ notes, problems, settings }: Configuration): string =>
  [
    table(
      settings.map(({ from, name, value, variable }) => [
        name,
        value,
        variable === null || variable === name ? from : `${from}: ${variable}`,
      ]),
    ),
    ...noteLines(notes),
    ...problems.map((problem) => `${styled("red", "invalid")} ${problem}`),
  ].join("\n");
