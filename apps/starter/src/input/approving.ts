import { approvalsOf, approve } from "@durable-payments/control";
import type { ApproveFlags } from "../commands/decide.ts";
import { badUsage } from "../exit-codes.ts";
import { canAsk, confirm } from "../output/ask.ts";
import { decidedText } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { approvalLines, askedText } from "../output/run-text.ts";
import { deciding } from "../settings.ts";
import { actingOf } from "./given.ts";

/**
 * Approves a payment, a file or limits: exactly what was shown. A terminal shows it and asks; a script has to name what it
 * has shown to somebody.
 */
export const approveShown = async (output: Output, flags: ApproveFlags): Promise<void> => {
  const { hash: given, id } = flags;
  const acting = actingOf(flags);
  await deciding(async (opened) => {
    const items = await approvalsOf(opened.ledger, id);
    const [item, other] = items.filter(({ hash }) => given === undefined || hash === given);
    // If nobody can approve it, then it has no hash, and the refusal says why.
    if (item !== undefined && item.hash !== null && given === undefined) {
      if (other !== undefined || output.json || !canAsk())
        throw badUsage(
          "Pass the hash of what you have read: --hash HASH. Nothing was done.",
          items.flatMap((one) => approvalLines(one)),
        );
      output.say(askedText(visible(item)));
      await confirm("Approve it?", "Nothing was recorded.");
    }
    const { question, workflowId = id } = item ?? { question: null };
    // Without an item, nothing was shown: no hash is the right one.
    const seen = { question: question ?? undefined, hash: item?.hash ?? given ?? "" };
    const { nudged } = await approve(opened, workflowId, { ...acting, ...seen });
    output.answer({ workflowId, is: "approved", nudged }, (shown) =>
      decidedText(`${shown.workflowId}: approved by ${acting.by}.`, shown),
    );
  });
};
