import {
  type Deciding,
  findBatch,
  isOpenStatus,
  readReport,
  readRun,
  STATUSES,
} from "@durable-payments/control";
import { MONEY_WORDS } from "@durable-payments/control/show";
import { confirm } from "../output/ask.ts";
import { totalRows } from "../output/batch-text.ts";
import { type Output, visible } from "../output/output.ts";
import { totalsText } from "../output/report-text.ts";
import { statusText } from "../output/run-text.ts";
import { joined, money, payeeText, table } from "../output/text.ts";

const NOTHING = "Nothing was done.";

/** Words the effect of a cancellation. If only Temporal knows the run, then only its id is known. */
const cancelText = async (
  { ledger }: Pick<Deciding, "ledger">,
  id: string,
  isStarted: boolean,
): Promise<string> => {
  const batch = visible(await findBatch(ledger, id));
  if (batch !== undefined) {
    const which = isStarted ? "every row without an outcome" : "the rows that have not started";
    const rows = table(totalRows(batch), { indent: "  " });
    return `This stops ${which} of ${id} (${batch.file}):\n${rows}`;
  }
  const [known] = await ledger.runs({ workflowIds: [id], limit: 1 });
  if (known === undefined) return `This stops ${id}.`;
  const run = visible(await readRun({ ledger, temporal: undefined, whyNot: [] }, id));
  const payments = run.payments.map((one) => [
    money(one),
    joined([payeeText(one), one.reference], ", "),
    MONEY_WORDS[one.state],
  ]);
  return `This stops ${id} (${statusText(run.status)}):\n${table(payments, { indent: "  " })}`;
};

/**
 * Shows what a stop order stops, and asks.
 *
 * @throws as `confirm`.
 */
export const confirmCancel = async (
  output: Output,
  deciding: Deciding,
  {
    id,
    isStarted,
    yes,
  }: { readonly id: string; readonly isStarted: boolean; readonly yes: boolean },
): Promise<void> =>
  yes
    ? undefined
    : confirm("Stop it for good?", NOTHING, async () =>
        output.say(await cancelText(deciding, id, isStarted)),
      );

/**
 * Shows the payments that a pause of everything holds, and asks.
 *
 * @throws as `confirm`.
 */
export const confirmPause = (output: Output, { ledger }: Pick<Deciding, "ledger">): Promise<void> =>
  confirm("Pause all sends?", NOTHING, async () => {
    const { totals } = await readReport(ledger, { statuses: STATUSES.filter(isOpenStatus) });
    output.say(
      `This pauses every send, of all accounts and files. Open payments:\n${totalsText(totals) || "  none"}`,
    );
  });
