import type { ApproveFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { confirmSeen } from "../output/ask.ts";
import { decidedText } from "../output/next.ts";

import { commandLines } from "../output/run-text.ts";
import { type Act, actingOf } from "./given.ts";

/** The hash of nothing that is ever shown: it is refused, with the reason why nothing can be approved. */
const NOTHING = "0".repeat(32);

/**
 * Approves a payment, a file or limits: exactly what was shown. A terminal shows it and asks; a script has to name what it
 * has shown to somebody.
 */
export const approveShown: Act<ApproveFlags> = async (output, payments, flags) => {
  const { hash: given, id } = flags;
  const acting = actingOf(flags);
  const items = (await payments.decisionsOn(id)).filter(({ kind }) => kind !== "question");
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
  const seen = { question: question ?? undefined, hash: item?.hash ?? given ?? NOTHING };
  await payments.approve(workflowId, { ...acting, ...seen });
  output.answer({ workflowId, is: "approved" }, (shown) =>
    decidedText(`${shown.workflowId}: approved by ${acting.by}.`, shown, item?.kind === "approval"),
  );
};
