import { proxyActivities } from "@temporalio/workflow";
import { awaitPayout, awaitReturn, createPayout } from "durable-payments/workflows";

const { openInvoiceAgain } = proxyActivities<{
  openInvoiceAgain: (invoice: string, reason: string) => Promise<void>;
}>({ startToCloseTimeout: "1 minute" });

type Payout = Parameters<typeof createPayout>[0];

/** Pays an invoice, and opens it again if the money comes back. */
export async function payInvoice(invoice: string, payout: Payout) {
  const created = await createPayout(payout);
  await awaitPayout(created, { within: "5 days" });
  const returned = await awaitReturn(created, { within: "30 days" });
  if (returned === undefined) return "paid";
  await openInvoiceAgain(invoice, returned.payout_status);
  return "came back";
}
