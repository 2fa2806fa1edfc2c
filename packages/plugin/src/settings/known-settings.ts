import { type ClientSettings, clientSettingNames, didYouMean } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { CannotStart } from "../cannot-start.ts";
import type { AccountSettings, NotifySettings, PaymentsSettings } from "./payments-settings.ts";

/** The names of a type's properties, every one of them. */
type Names<Settings> = Readonly<Record<keyof Settings, true>>;

const ACCOUNT: Names<Omit<AccountSettings, keyof ClientSettings>> = {
  maxAmounts: true,
  approveAbove: true,
  activitiesPerSecond: true,
};

const PAYMENTS: Names<Omit<PaymentsSettings, keyof AccountSettings>> = {
  accounts: true,
  ledger: true,
  operations: true,
  batchShare: true,
  notify: true,
  healthAddress: true,
  onReady: true,
};

const NOTIFY: Names<NotifySettings> = {
  url: true,
  secret: true,
  intervalSeconds: true,
  overdueHours: true,
  webUi: true,
};

const accountSettingNames: ReadonlyArray<string> = [...clientSettingNames, ...Object.keys(ACCOUNT)];

const refuse = (given: unknown, known: ReadonlyArray<string>, of: string): void => {
  if (!isRecord(given)) throw new CannotStart(`${of} takes an object with settings.`);
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new CannotStart(`${of} has no ${unknown.join(", ")}${didYouMean(unknown, known)}.`);
};

/**
 * Refuse what is no setting: a misspelt limit would be none. Settings may be written in JavaScript, and be anything.
 *
 * @throws CannotStart that names it, and all that there are.
 */
export const refuseUnknownSettings = (settings: PaymentsSettings): void => {
  refuse(settings, [...accountSettingNames, ...Object.keys(PAYMENTS)], "PaymentsPlugin");
  refuse(settings.notify ?? {}, Object.keys(NOTIFY), "The setting notify of PaymentsPlugin");
  if (settings.onReady !== undefined && typeof settings.onReady !== "function") {
    throw new CannotStart("The setting onReady of PaymentsPlugin must be a function.");
  }
};

/**
 * Refuse what is no setting of an account.
 *
 * @throws CannotStart that names it, and all that there are.
 */
export const refuseUnknownAccountSettings = (name: string, settings: AccountSettings): void =>
  refuse(settings, accountSettingNames, `The account ${name}`);

/** The settings of the account without a name among those of the plugin; one that is undefined is not given. */
export const settingsOfAnAccount = (settings: PaymentsSettings): AccountSettings =>
  Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) => accountSettingNames.includes(name) && value !== undefined,
    ),
  );

/** The settings of the client among those of an account; one that is undefined is not given. */
export const clientSettingsOf = (settings: AccountSettings): Partial<ClientSettings> =>
  Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) => clientSettingNames.includes(name) && value !== undefined,
    ),
  );
