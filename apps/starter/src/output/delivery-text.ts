import type { Delivery } from "@durable-payments/protocol";
import { wrapDeeper } from "./text.ts";

/** What became of a test notification, and what to do where it was not delivered. */
export const deliveryText = ({ host, isDelivered, status, tookMs, why }: Delivery): string => {
  if (isDelivered) return wrapDeeper(`Delivered: ${host} answered ${status} in ${tookMs} ms.`);
  const what =
    host === null
      ? `Not posted: ${why}, which took it.`
      : `Not delivered: ${host} ${why}${status === null ? "" : `, after ${tookMs} ms`}.`;
  const help =
    status === 401 || status === 403
      ? "Check that the endpoint has the worker's PAYMENTS_NOTIFY_SECRET."
      : "Check PAYMENTS_NOTIFY_URL of the worker, and that the endpoint can be reached from where it runs.";
  return wrapDeeper(`${what} ${help}`);
};
