import type { Payments } from "@durable-payments/control/payments";
import { isOpenStatus, MONEY_WORDS, STATUSES } from "@durable-payments/control/show";
import { confirm } from "../output/ask.ts";
import { totalRows } from "../output/batch-text.ts";
import { type Output, visible } from "../output/output.ts";
import { totalsText } from "../output/report-text.ts";
import { statusText } from "../output/run-text.ts";
import { joined, money, payeeText, table } from "../output/text.ts";

const NOTHING = "Nothing was done.";

/** Words the effect of a cancellation. */
const cancelText = async (payments: Payments, id: string, isStarted: boolean): Promise<string> => {
  if (await payments.isBatch(id)) {
    const batch = visible(await payments.batch(id));
    const which = isStarted ? "every row without an outcome" : "the rows that have not started";
    const rows = table(totalRows(batch), { indent: "  " });
    return `This stops ${which} of ${id} (${batch.file}):\n${rows}`;
  }
  const run = visible(await payments.show(id));
  const rows = run.payments.map((one) => [
    money(one),
    joined([payeeText(one), one.reference], ", "),
    MONEY_WORDS[one.state],
  ]);
  return `This stops ${id} (${statusText(run.status)}):\n${table(rows, { indent: "  " })}`;
};

/**
 * Shows what a stop order stops, and asks.
 *
 * @throws as `confirm`; NotFound if there is no such run.
 */
export const confirmCancel = (
  output: Output,
  payments: Payments,
  { id, isStarted }: { readonly id: string; readonly isStarted: boolean },
): Promise<void> =>
  confirm("Stop it for good?", NOTHING, async () =>
    output.say(await cancelText(payments, id, isStarted)),
  );

/**
 * Shows the payments that a pause of everything holds, and asks.
 *
 * @throws as `confirm`.
 */
export const confirmPause = (output: Output, payments: Payments): Promise<void> =>
  confirm("Pause all sends?", NOTHING, async () => {
    const { totals } = await payments.report({
      since: null,
      statuses: STATUSES.filter(isOpenStatus),
    });
    output.say(
      `This pauses every send, of all accounts and files. Open payments:\n${totalsText(totals) || "  none"}`,
    );
  });
