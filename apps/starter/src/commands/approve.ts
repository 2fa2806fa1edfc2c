import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, id, json, reason, text } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id,
  question: text("for", "QUESTION", "Which approval, where a run waits for several"),
  by,
  reason,
  json,
};

const verdict = (name: "approve" | "reject", done: string) =>
  Command.make(name, flags, ({ by, id, json, question, reason }) =>
    runCommand(json, async (output) => {
      const { operating } = await import("../settings.ts");
      const { actingOf } = await import("../input/acting.ts");
      const { decidedText } = await import("../output/decided.ts");
      const { approveBatch, rejectBatch } = await import("@durable-payments/operations/batch");
      const { approve, reject } = await import("@durable-payments/operations/decide");
      const acting = actingOf({ by, reason });
      await operating(async (operations) => {
        if ((await operations.ledger.batch(id)) !== undefined) {
          await (name === "approve" ? approveBatch : rejectBatch)(operations, id, acting);
          output.answer(
            { batch: id, is: done },
            (shown) => `${shown.batch}: ${done} by ${acting.by}.`,
          );
          return;
        }
        const given = { ...acting, question: Option.getOrUndefined(question) };
        const { nudged } = await (name === "approve" ? approve : reject)(operations, id, given);
        output.answer({ workflowId: id, is: done, nudged }, (shown) =>
          decidedText(
            `${shown.workflowId}: ${done} by ${acting.by}.`,
            shown.workflowId,
            shown.nudged,
          ),
        );
      });
      return EXIT_CODES.done;
    }),
  );

/** `starter approve`: a second person approves exactly what is to be sent. */
export const approve = verdict("approve", "approved").pipe(
  Command.withShortDescription("Approve a payment or a file, as a second person"),
  Command.withDescription(
    `Approve exactly what \`starter show ID\` shows; another request asks again.
  Whoever started, amended, overruled or resent it cannot approve it.

  ${EXIT_CODES_HELP}`,
  ),
);

/** `starter reject`: a second person keeps it from being sent. */
export const reject = verdict("reject", "rejected").pipe(
  Command.withShortDescription("Reject a payment or a file, as a second person"),
  Command.withDescription(
    `Reject what waits for an approval: nothing more is sent under its id, by this
  run or a retry. It needs a --reason.

  ${EXIT_CODES_HELP}`,
  ),
);
