import { messageOf } from "@durable-payments/api-core/values";
import type { Delivery, QueuedNotification } from "@durable-payments/protocol/notifications";
import { Webhook } from "standardwebhooks";
import type { NotificationSettings } from "./settings.ts";

/** How long an endpoint may take; it is to answer first, and to work afterwards. */
const ANSWER_WITHIN_MS = 10_000;

/** What went wrong below HTTP, without the address. */
const whyNoAnswer = (error: unknown): string => {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `no answer within ${ANSWER_WITHIN_MS / 1000} s`;
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : messageOf(cause);
  return code === "ECONNREFUSED" ? "connection refused" : `no answer (${code})`;
};

const whyRefused = (status: number): string =>
  status >= 300 && status < 400
    ? `answers ${status}, a redirect, which is not followed: set PAYMENTS_NOTIFY_URL to where it leads`
    : `answers ${status}`;

/**
 * Posts a notification once, signed as the Standard Webhooks specification has it.
 *
 * @param settings where to, and the key of its signature.
 * @param queued the notification, and its id.
 * @param signal ends the attempt.
 * @returns what became of it; only a status of 200 to 299 says that it was delivered. The body of the
 *   answer is not read.
 * @throws the reason of `signal`.
 */
export const post = async (
  { key, url }: Pick<NotificationSettings, "key" | "url">,
  { id, notification }: QueuedNotification,
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
