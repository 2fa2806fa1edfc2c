import {
  type ClientOptions,
  type InvalidSettings,
  NotAuthenticated,
} from "@durable-payments/client/effect";
import { isRecord, messageOf } from "@durable-payments/client/values";
import { type Delivery, notifierId, testNotificationUpdate } from "@durable-payments/protocol";
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import * as Result from "effect/Result";
import { askOnce, type LedgerSettings, type Sources } from "../../facts/connection/connections.ts";
import type { Connections } from "../../facts/connection/open-connections.ts";
import { isNoAnswer } from "../../facts/connection/temporal-errors.ts";
import { noWorker } from "../../facts/connection/temporal.ts";
import { ConnectionFailed, connectionFailed, refused } from "../../errors.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";
import { checkLedger, checkCode, checkLost } from "./ledger-checks.ts";
import { checkTemporal } from "./temporal-checks.ts";
import { checkWindows } from "./window-check.ts";

/** An account of the settings, with its access to the service, or the reason why that is unknown here. */
export interface Service {
  /** Undefined for the unnamed account. */
  readonly name: string | undefined;
  readonly access: Result.Result<ClientOptions, InvalidSettings>;
}

/** The findings of the doctor. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

const NO_ACCOUNT = "not checked: no account is set here, and none is needed to decide";

const serviceChecks = async (services: ReadonlyArray<Service>): Promise<ReadonlyArray<Check>> => {
  if (services.length === 0) return [skipped(SERVICE, NO_ACCOUNT)];
  const checks = services.map(async ({ access, name }) => {
    const title = name === undefined ? "" : `${name}: `;
    return (await checkService(access)).map((one) => ({ ...one, name: `${title}${one.name}` }));
  });
  return (await Promise.all(checks)).flat();
};

/** Both hold the same payments, and a converter of one's own leaves the ledger as it is. */
export const encryptionCheck = ({ keyring }: LedgerSettings, temporal: Sources["temporal"]) => {
  if (temporal?.settings.dataConverter === undefined || keyring !== undefined) return [];
  const found = "dataConverter encrypts only what Temporal stores, not the texts of the ledger";
  return [warning("encryption", found, "Set the setting keyring as well, on every machine.")];
};

/** Checks of Temporal and the ledger, which need each other: the tracker is the ledger's witness. */
const innerChecks = async (connections: Connections): Promise<ReadonlyArray<Check>> => {
  const { accounts: known, ledger: place } = connections.settings;
  try {
    return await connections.sources(async ({ ledger, temporal, whyNot }) => {
      const missing = (what: string) =>
        failed(what, whyNot.join(" "), "Correct the settings, or start what is missing.");
      const { checks, tracked } =
        temporal === undefined
          ? { checks: [missing("Temporal")], tracked: [] }
          : await checkTemporal(temporal, known);
      const namespace = temporal?.settings.namespace;
      return ledger === undefined
        ? [...checks, missing("ledger")]
        : [
            ...checks,
            ...(await checkLedger(ledger, namespace, known, tracked)),
            ...(temporal === undefined
              ? []
              : [await checkLost(ledger, temporal.client), await checkCode(ledger, temporal)]),
            ...encryptionCheck(place, temporal),
          ];
    });
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    return [failed("Temporal and ledger", error.message, error.next)];
  }
};

/**
 * Checks everything that must work: service, sign-in, Temporal, workers, trackers, ledger, limits, notifications. It
 * changes nothing but a mark in the ledger that nothing reads, and only reads at the service: a ping, and three pages of
 * the list of payouts.
 *
 * @param services the accounts whose access is checked.
 * @param onPart is called with the checks so far as soon as there are more.
 * @returns each check with its finding and remedy; a failed check does not reject.
 */
export const diagnose = async (
  connections: Connections,
  services: ReadonlyArray<Service>,
  onPart: (checks: ReadonlyArray<Check>) => void = () => undefined,
) => {
  const made: Array<Check> = [];
  const parts = [serviceChecks(services), innerChecks(connections)].map(async (part) => {
    made.push(...(await part));
    onPart(made);
    return part;
  });
  const checks = (await Promise.all(parts)).flat();
  return { isWell: checks.every(({ status }) => status !== "failed"), checks };
};

/** A service that answers later than this is slow; it is down only if it does not answer. */
const SLOW_MS = 5_000;

/** How long the check waits for an answer. Writes use the worker's own timeout. */
const PING_WITHIN_MS = 30_000;

/** A larger difference is not that of a `Date` without fractions, and a slow response. */
const CLOCKS_DIFFER_S = 60;

const SERVICE = "service";
const CLOCK = "service's clock";
const SIGN_IN = "sign-in";

/** Judges the response time of a ping: slow is not down. */
export const answeredIn = (baseUrl: string, milliseconds: number): Check => {
  const answered = `${baseUrl} responded in ${Math.round(milliseconds)} ms`;
  return milliseconds > SLOW_MS
    ? warning(SERVICE, `slow: ${answered}`, "Payments wait for it; nothing is lost.")
    : ok(SERVICE, answered);
};

/**
 * Says how far the service's clock is from this machine's. No decision about money depends on it.
 *
 * @param date the header `Date` of a response that has just come.
 */
export const clockSeen = (date: string | undefined, now = Date.now()): Check => {
  const ahead = Math.round((Date.parse(date ?? "") - now) / 1_000);
  if (Number.isNaN(ahead)) return ok(CLOCK, "unknown: its responses have no Date header");
  const seen = `its Date is ${Math.abs(ahead)} s ${ahead < 0 ? "behind" : "ahead of"} this machine's clock`;
  return Math.abs(ahead) > CLOCKS_DIFFER_S
    ? warning(CLOCK, `${seen}, more than ${CLOCKS_DIFFER_S} s`, "Check this machine's clock (NTP).")
    : ok(CLOCK, seen);
};

const CREDENTIALS = "Correct the settings clientId and apiKey of the account.";

/** Checks the settings of the client, that the service answers, and that it accepts the credentials. */
export const checkService = async (settings: Service["access"]): Promise<ReadonlyArray<Check>> => {
  if (Result.isFailure(settings)) {
    const remedy = "Set the worker's settings here as well.";
    return [
      failed(SERVICE, settings.failure.message, remedy),
      skipped(SIGN_IN, "not checked: the settings are wrong"),
    ];
  }
  const { baseUrl } = settings.success;
  const begun = performance.now();
  try {
    const { headers } = await askOnce(settings.success, PING_WITHIN_MS, (client) =>
      client.withResponse.ping(),
    );
    const took = performance.now() - begun;
    return [
      answeredIn(baseUrl, took),
      ok(SIGN_IN, "the service accepts the credentials"),
      clockSeen(headers["date"]?.toString()),
      await checkWindows(settings.success),
    ];
  } catch (error) {
    if (error instanceof NotAuthenticated)
      return [ok(SERVICE, `${baseUrl} answers`), failed(SIGN_IN, messageOf(error), CREDENTIALS)];
    return [
      failed(
        SERVICE,
        messageOf(error),
        "Payments wait until it answers. Check the setting baseUrl.",
      ),
      skipped(SIGN_IN, "unknown: the service did not answer"),
    ];
  }
};

const ANSWER_WITHIN_MS = 20_000;

const isDelivery = (answer: unknown): answer is Delivery =>
  isRecord(answer) && typeof answer["isDelivered"] === "boolean" && "tookMs" in answer;

/**
 * Has the notifier post one test notification. The worker posts it with its own settings, so its arrival proves that the
 * worker, not this process, has the right ones.
 *
 * @returns its outcome: the status of the answer, or the reason of the failure.
 * @throws ConnectionFailed if no worker polls or answers; NotAllowed if the workers have no address for it.
 */
export const testWebhook = async ({ temporal, whyNot }: Sources): Promise<Delivery> => {
  if (temporal === undefined) throw connectionFailed("cannotConnect", whyNot.join(" "));
  const { client, connection, settings } = temporal;
  const { taskQueue } = settings;
  const missing = await noWorker(client, taskQueue);
  if (missing !== undefined) throw connectionFailed("noWorker", missing.message, missing.next);
  try {
    const answer = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.getHandle(notifierId(taskQueue)).executeUpdate(testNotificationUpdate),
    );
    if (isDelivery(answer)) return answer;
    throw refused(`The workflow ${notifierId(taskQueue)} is not the notifier of a worker.`);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw refused(
        `No notifier runs on task queue "${taskQueue}": give the worker the settings notify.url and notify.secret, and restart it. Nothing was posted.`,
      );
    }
    const isLate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isNoAnswer(error);
    // Its one attempt was lost with its worker.
    if (!isLate && !(error instanceof WorkflowUpdateFailedError)) throw error;
    throw connectionFailed(
      "noWorker",
      `No worker on task queue "${taskQueue}" answered within ${ANSWER_WITHIN_MS / 1000} s. The test notification may still be posted.`,
      { action: "doctor" },
    );
  }
};
