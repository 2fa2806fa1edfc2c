import { approvalsOf, approve } from "@durable-payments/control";
import type { ApproveFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { confirmSeen } from "../output/ask.ts";
import { decidedText } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { commandLines } from "../output/run-text.ts";
import { onLedger } from "../settings.ts";
import { actingOf } from "./given.ts";

/**
 * Approves a payment, a file or limits: exactly what was shown. A terminal shows it and asks; a script has to name what it
 * has shown to somebody.
 */
export const approveShown = async (output: Output, flags: ApproveFlags): Promise<void> => {
  const { hash: given, id } = flags;
  const acting = actingOf(flags);
  await onLedger(async (opened) => {
    const items = (await approvalsOf(opened.ledger, id)).filter(({ kind }) => kind !== "question");
    const [item, other] = items.filter(({ hash }) => given === undefined || hash === given);
    // If nobody can approve it, then it has no hash, and the refusal says why.
    if (item !== undefined && item.hash !== null && given === undefined) {
      if (other !== undefined)
        throw badUsage(
          "Choose one by its --hash HASH. Nothing was done.",
          items.flatMap(commandLines),
        );
      await confirmSeen(output, item, "--hash HASH");
    }
    const { question, workflowId = id } = item ?? { question: null };
    // Without an item, nothing was shown: no hash is the right one.
    const seen = { question: question ?? undefined, hash: item?.hash ?? given ?? "" };
    await approve(opened, workflowId, { ...acting, ...seen });
    output.answer({ workflowId, is: "approved" }, (shown) =>
      decidedText(`${shown.workflowId}: approved by ${acting.by}.`, shown),
    );
  });
};
