import { isLoopback, messageOf } from "@durable-payments/client/values";
import type { Delivery } from "@durable-payments/protocol/notifications";
import { lateAfterMsOf, type Settings } from "@durable-payments/protocol/settings";
import { Webhook } from "standardwebhooks";

/** The address of notifications, and their occasions. */
export interface NotificationSettings {
  /** https, or http to this machine. It may hold a secret in its path: only its host is ever shown. */
  readonly url: URL;
  /** The key of the signature, without its prefix and encoding. */
  readonly key: Uint8Array;
  /** Interval of the queries to Temporal, in milliseconds. */
  readonly intervalMs: number;
  /** After this time a run that is still open is overdue, in milliseconds. */
  readonly overdueAfterMs: number;
  /** This long after its payment date a payout that has not completed is late, in milliseconds. */
  readonly lateAfterMs: number;
  /** Address of Temporal's Web UI, for links. */
  readonly webUi?: string;
}

/** Webhook of the settings. */
export type NotifySettings = NonNullable<Settings["notify"]>;

const URL_SETTING = "PAYMENTS_NOTIFY_URL (notify.url)";
const SECRET_SETTING = "PAYMENTS_NOTIFY_SECRET (notify.secret)";
const HOUR_MS = 3_600_000;
const DEFAULT_INTERVAL_S = 15;
const DEFAULT_OVERDUE_H = 120;

/** As the Standard Webhooks specification asks for: 24 to 64 bytes. */
const LEAST_KEY_BYTES = 24;
const MOST_KEY_BYTES = 64;

const readUrl = (given: string): URL => {
  const fault = (problem: string) => new Error(`${URL_SETTING} must ${problem}.`);
  if (!URL.canParse(given)) throw fault("be an absolute URL, such as https://alerts.example/hook");
  const url = new URL(given);
  if (url.username !== "" || url.password !== "")
    throw fault("not contain a user name or password");
  if (url.protocol === "https:") return url;
  if (url.protocol === "http:" && isLoopback(url.hostname)) return url;
  throw fault("begin with https://; http:// is allowed only to this machine");
};

/** Reads the key of signatures. @throws Error that names the setting, and does not repeat the key. */
export const readKey = (setting: string, given: string): Uint8Array => {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(given)?.[1];
  const key = Buffer.from(text ?? "", "base64");
  if (key.length >= LEAST_KEY_BYTES && key.length <= MOST_KEY_BYTES) return key;
  throw new Error(
    `${setting} must be whsec_ and 24 to 64 bytes in base64. Make one: echo "whsec_$(openssl rand -base64 32)"`,
  );
};

/**
 * Checks where notifications go.
 *
 * @param notify of the settings.
 * @returns the webhook; undefined without a URL: then no notification is sent.
 * @throws Error that says what is wrong, and repeats neither URL nor secret.
 */
export const readNotificationSettings = (
  notify: NotifySettings,
): NotificationSettings | undefined => {
  const {
    intervalSeconds = DEFAULT_INTERVAL_S,
    overdueHours = DEFAULT_OVERDUE_H,
    secret = "",
    url,
    webUi,
  } = notify;
  if (url === undefined) {
    if (secret === "") return undefined;
    throw new Error(`${SECRET_SETTING} is set, but ${URL_SETTING} is not.`);
  }
  return {
    url: readUrl(url),
    key: readKey(SECRET_SETTING, secret),
    intervalMs: intervalSeconds * 1_000,
    overdueAfterMs: overdueHours * HOUR_MS,
    lateAfterMs: lateAfterMsOf(notify),
    ...(webUi && { webUi }),
  };
};

/** Time limit of an endpoint, which should respond first and work afterwards. */
const ANSWER_WITHIN_MS = 10_000;

/** The failure below HTTP, without the address. */
const whyNoAnswer = (error: unknown): string => {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `no response within ${ANSWER_WITHIN_MS / 1000} s`;
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : messageOf(cause);
  return code === "ECONNREFUSED" ? "connection refused" : `no response (${code})`;
};

const whyRefused = (status: number): string =>
  status >= 300 && status < 400
    ? `responded with ${status}, a redirect, which is not followed: set PAYMENTS_NOTIFY_URL to its target`
    : `answers ${status}`;

/**
 * Posts a notification once, under an id that is the same each time, signed according to Standard Webhooks. Only a status of 200 to 299 means that it was
 * delivered; the body of the response is not read. Throws the reason of `signal`.
 */
export const post = async (
  { key, url }: Pick<NotificationSettings, "key" | "url">,
  id: string,
  notification: object,
  signal: AbortSignal,
): Promise<Delivery> => {
  const body = JSON.stringify(notification);
  const now = new Date();
  const began = performance.now();
  const { host } = url;
  const tookMs = () => Math.round(performance.now() - began);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": `${Math.floor(now.getTime() / 1000)}`,
        "webhook-signature": new Webhook(key, { format: "raw" }).sign(id, now, body),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    });
    await response.body?.cancel();
    const { ok, status } = response;
    return {
      isDelivered: ok,
      host,
      status,
      tookMs: tookMs(),
      ...(!ok && { why: whyRefused(status) }),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { isDelivered: false, host, status: null, tookMs: tookMs(), why: whyNoAnswer(error) };
  }
};
