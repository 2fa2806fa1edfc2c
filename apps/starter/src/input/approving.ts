import {
  approve,
  decideBatch,
  type Deciding,
  findBatch,
  type InboxItem,
  itemsOf,
} from "@durable-payments/control";
import type { ApproveFlags } from "../commands/decide.ts";
import { badUsage } from "../exit-codes.ts";
import { canAsk, confirm } from "../output/ask.ts";
import { batchText } from "../output/batch-text.ts";
import { commandOf, decidedText } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { questionLines } from "../output/run-text.ts";
import { wrap } from "../output/text.ts";
import { deciding } from "../settings.ts";
import { actingOf } from "./given.ts";

/** Finds the approval with a hash, or the only one; undefined if none is open. */
const approvalOf = async (
  { ledger }: Deciding,
  { hash, id }: ApproveFlags,
): Promise<InboxItem | undefined> => {
  const items = await itemsOf(ledger, await ledger.rowsOf(id));
  const open = items.filter(({ kind }) => kind === "approval");
  const item = open.find((one) => (hash === undefined ? open.length === 1 : one.hash === hash));
  if (item !== undefined || open.length === 0) return item;
  throw badUsage(
    hash === undefined
      ? `${id} is waiting for ${open.length} approvals: choose one by its --hash. Nothing was done.`
      : `What ${id} shows now has another hash: read it again. Nothing was done.`,
    open.flatMap((one) => linesOf(one)),
  );
};

const linesOf = ({ hash, ...item }: InboxItem): ReadonlyArray<string> => [
  ...questionLines(visible({ ...item, hash })),
  commandOf({ operation: "approve", workflowId: item.workflowId, ...(hash !== null && { hash }) }),
];

/**
 * Shows at a terminal what would be approved, and asks; a script has to name what it has shown to somebody.
 *
 * @param lines for the error of a script.
 */
const askFor = async (
  output: Output,
  lines: ReadonlyArray<string>,
  shown = lines.map((line) => wrap(line, "  ")).join("\n"),
): Promise<void> => {
  if (output.json || !canAsk())
    throw badUsage("Pass the hash of what you have read: --hash HASH. Nothing was done.", lines);
  output.say(shown);
  await confirm("Approve it?", "Nothing was recorded.");
};

const NOT_NOTIFIED =
  "Temporal does not answer: the tracker starts the file within a minute after it does.";

/** Rows of a file after which the progress of its approval is shown. */
const SHOWN_EVERY = 1_000;

/** Approves a write or a file: exactly what was shown. */
export const approveShown = async (output: Output, flags: ApproveFlags): Promise<void> => {
  const { hash, id } = flags;
  const acting = actingOf(flags);
  await deciding(async (opened) => {
    const batch = await findBatch(opened.ledger, id);
    if (batch !== undefined) {
      const show = commandOf({ operation: "show", workflowId: id });
      if (hash === undefined) await askFor(output, [show], batchText(visible(batch)));
      const seen = hash ?? batch.listing?.hash;
      const onProgress = (approved: number, rows: number) => {
        if (approved % SHOWN_EVERY === 0) output.say(`${approved} of ${rows} rows approved`);
      };
      await decideBatch(opened, id, "approve", { ...acting, hash: seen, onProgress });
      const isNotified = opened.client !== undefined;
      output.answer({ batch: id, is: "approved", isNotified }, (shown) =>
        [
          `${shown.batch}: approved by ${acting.by}.`,
          ...(shown.isNotified ? [] : [NOT_NOTIFIED]),
        ].join("\n"),
      );
      return;
    }
    const item = await approvalOf(opened, flags);
    if (item !== undefined && hash === undefined) await askFor(output, linesOf(item));
    const { question, workflowId = id } = item ?? { question: null };
    const seen = { question: question ?? undefined, hash: item?.hash ?? hash };
    const { nudged } = await approve(opened, workflowId, { ...acting, ...seen });
    output.answer({ workflowId, is: "approved", nudged }, (shown) =>
      decidedText(`${shown.workflowId}: approved by ${acting.by}.`, shown),
    );
  });
};
