import type { OwnOperations } from "@durable-payments/activities";
import { didYouMean } from "@durable-payments/client/effect";
import { clientSettingNames } from "@durable-payments/client/settings";
import { isRecord, messageOf } from "@durable-payments/client/values";
import type { Ledger } from "@durable-payments/ledger";
import {
  type AccountSettings,
  accountSettingNames,
  accountsOf,
  checkSettings,
  layOver,
  readSettings,
  type Settings,
} from "@durable-payments/protocol/settings";

/** The worker cannot start, and has taken no work: the message is one line that says why, and what to do. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";

  /**
   * Makes the error.
   *
   * @param message why, and what to do.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // A program that does not catch it prints the stack, whose lines do not help an operator.
    this.stack = `${this.name}: ${message}`;
  }
}

/** A worker that polls all its task queues. */
export interface Polling {
  /** The Temporal namespace. */
  readonly namespace: string;
  /** The base queue, which the worker was created with; the others are named after it. */
  readonly taskQueue: string;
  /** Place of the ledger, without a password. */
  readonly ledger: string;
  /** Address of `/livez`, `/readyz` and `/metrics` as `HOST:PORT`; left out if the worker has none. */
  readonly health?: string;
}

/**
 * Settings of {@link PaymentsPlugin}. A setting that is left out comes from its environment variable, or else from the
 * file that `PAYMENTS_SETTINGS` names: docs/settings.md.
 */
export interface PaymentsSettings
  extends
    AccountSettings,
    Pick<Settings, "batchShare" | "hints" | "keyring" | "ledger" | "notify"> {
  /**
   * Further accounts by name, each with credentials of its own. An account takes the other settings that it leaves out
   * from those of the plugin. A name has 1 to 40 lower-case letters, digits and dashes. Default: none.
   */
  readonly accounts?: Readonly<Record<string, AccountSettings>>;
  /** Operations of your own that workflows send, by the names that `ownOperation` gives them. Default: none. */
  readonly operations?: OwnOperations;
  /**
   * Address at which the worker answers `/livez`, `/readyz` and `/metrics` (with those of the SDK, if the `Runtime` has
   * an exporter for Prometheus): a port of 127.0.0.1, or `HOST:PORT`; port 0 picks a free port. Default: none.
   */
  readonly healthAddress?: string | number;
  /** Called once when the worker polls all its task queues, for a readiness check or a line in a log. Default: nothing. */
  readonly onReady?: (polling: Polling) => void;
}

/** Environment of a plugin: the process, or a test. */
export interface WorkerProcess {
  /** Environment variables, for settings that are left out. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Whether the Temporal server skips time, as a server for tests does. Then no tracker is kept running, and waits
   * poll: a tracker's activity lasts for hours, and the server would wait for it.
   */
  readonly skipsTime: boolean;
  /** An open ledger, which stays open: for a test that reads it as well. */
  readonly ledger?: Ledger;
}

/** The settings of a worker: of its program, its environment and its file. */
export interface WorkerSettings extends Omit<Settings, keyof AccountSettings | "accounts"> {
  /** By name; undefined for the account without a name. The first one is of the base queue. */
  readonly accounts: ReadonlyMap<string | undefined, AccountSettings>;
}

/** Settings that a file can hold and a program as well, apart from those of the client. */
const SHARED = [
  "accounts",
  "activitiesPerSecond",
  "approveAbove",
  "batchShare",
  "healthAddress",
  "hints",
  "keyring",
  "ledger",
  "maxAmounts",
  "notify",
] as const satisfies ReadonlyArray<keyof PaymentsSettings>;

const OF_PROGRAM = ["onReady", "operations"] as const satisfies ReadonlyArray<
  keyof PaymentsSettings
>;

/** Reads or checks settings. @param about begins the message of a fault. @throws CannotStart */
export const orCannotStart = <A>(read: () => A, about = ""): A => {
  try {
    return read();
  } catch (error) {
    if (error instanceof CannotStart) throw error;
    throw new CannotStart(`${about}${messageOf(error).replace(/\.?$/, ".")}`, { cause: error });
  }
};

const refuseUnknown = (given: unknown, known: ReadonlyArray<string>, owner: string): void => {
  if (!isRecord(given)) throw new CannotStart(`${owner} must be an object of settings.`);
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    throw new CannotStart(`${owner} has no setting ${name}${didYouMean([name], known)}.`);
  }
};

const pick = (given: object, names: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(given).filter(([name, value]) => names.includes(name) && value !== undefined),
  );

const isFunction = (value: unknown): boolean => typeof value === "function";
const isAbsentOr = (is: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || is(value);
/** Whether a timer of Node can be as long: a longer one ends at once. */
const isTime = (value: unknown): boolean =>
  typeof value === "number" && value > 0 && value < 2 ** 31;

/** Fields of an operation of a user's own: a check of the value, and its words. */
const OPERATION_FIELDS = {
  repeat: [
    (value) => value === "none" || value === "keyed" || value === "idempotent",
    '"none", "keyed" or "idempotent"',
  ],
  send: [isFunction, "a function"],
  find: [isAbsentOr(isFunction), "a function"],
  read: [isAbsentOr(isFunction), "a function"],
  undo: [isAbsentOr(isFunction), "a function"],
  timeoutMs: [isAbsentOr(isTime), "from 1 to 2147483647"],
  listLagMs: [isAbsentOr((value) => value === 0 || isTime(value)), "from 0 to 2147483647"],
  schema: [isAbsentOr((value) => isRecord(value) || isFunction(value)), "a Standard Schema"],
} as const satisfies Record<string, readonly [(value: unknown) => boolean, string]>;

/** @throws CannotStart if an operation is not one: with `listLagMs: NaN`, or `listLag`, what was lost would be sent again too soon. */
const checkOperations = (operations: OwnOperations): void => {
  for (const [name, operation] of Object.entries<unknown>(operations)) {
    if (!isRecord(operation)) throw new CannotStart(`The operation ${name} must be an object.`);
    // The object of a class has fields of its own.
    if (Object.getPrototypeOf(operation) === Object.prototype)
      refuseUnknown(operation, Object.keys(OPERATION_FIELDS), `The operation ${name}`);
    for (const [field, [isValid, valid]] of Object.entries(OPERATION_FIELDS))
      if (!isValid(operation[field]))
        throw new CannotStart(`The operation ${name}: ${field} must be ${valid}.`);
  }
};

/**
 * Checks the settings of a program, which may be written in JavaScript: a misspelt limit would be no limit.
 *
 * @throws CannotStart
 */
export const checkProgramSettings = (given: PaymentsSettings): void => {
  refuseUnknown(given, [...clientSettingNames, ...SHARED, ...OF_PROGRAM], "PaymentsPlugin");
  if (given.onReady !== undefined && typeof given.onReady !== "function") {
    throw new CannotStart("The setting onReady of PaymentsPlugin must be a function.");
  }
  checkOperations(given.operations ?? {});
  const { accounts = {}, healthAddress, ...others } = given;
  const named = Object.entries(accounts).map(([name, account]) => {
    refuseUnknown(account, [...clientSettingNames, ...accountSettingNames], `The account ${name}`);
    return [name, pick(account, SHARED)] as const;
  });
  const shared = {
    ...pick(others, SHARED),
    accounts: Object.fromEntries(named),
    ...(healthAddress !== undefined && { healthAddress: `${healthAddress}` }),
  };
  // The client checks its own.
  orCannotStart(() => checkSettings(shared, (field) => `The setting ${field}`));
};

/**
 * Reads the settings of a worker. The program overrides the environment, and the environment overrides the file.
 *
 * @throws CannotStart
 */
export const readWorkerSettings = (
  given: PaymentsSettings,
  environment: WorkerProcess["environment"],
): WorkerSettings => {
  const { healthAddress, onReady: _, operations: __, ...own } = given;
  return orCannotStart(() => {
    const settings = layOver(readSettings(environment), {
      ...own,
      ...(healthAddress !== undefined && { healthAddress: `${healthAddress}` }),
    });
    return { ...settings, accounts: accountsOf(settings) };
  });
};
