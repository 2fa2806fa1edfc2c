import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, id, ifRun, json, on, reason } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id,
  isForced: on("force", "Terminate the run: it undoes nothing"),
  ifRun,
  by,
  reason,
  json,
};

const RUN = {
  asked: "Cancellation requested: it stops after the request in flight; nothing sent is reversed.",
  terminated: "The run was terminated; nothing sent is reversed.",
  closed: "No run was open.",
  unanswered: "Temporal does not answer, so the run may stay open; it sends nothing more.",
} as const;

/** `starter cancel`: ends a run, or a batch, by a person's decision. */
export const cancel = Command.make("cancel", flags, ({ id, ifRun, isForced, json, ...given }) =>
  runCommand(json, async (output) => {
    const { operating } = await import("../settings.ts");
    const { actingOf } = await import("../input/acting.ts");
    const { cancelBatch } = await import("@durable-payments/operations/batch");
    const { cancel: cancelRun } = await import("@durable-payments/operations/ending");
    const acting = actingOf(given);
    await operating(async (operations) => {
      if ((await operations.ledger.batch(id)) !== undefined) {
        const { rejected } = await cancelBatch(operations, id, acting);
        output.answer(
          { batch: id, notStarted: rejected },
          (shown) =>
            `${shown.batch} is cancelled: ${shown.notStarted} rows are not paid. Runs that were started continue.`,
        );
        return;
      }
      const options = { ...acting, isForced, ifRun: Option.getOrUndefined(ifRun) };
      const { run } = await cancelRun(operations, id, options);
      output.answer(
        { workflowId: id, run },
        (shown) =>
          `END recorded for ${shown.workflowId}: nothing more is sent under it, also not by a retry. ${RUN[shown.run]}`,
      );
    });
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("End a run, or stop starting a batch"),
  Command.withDescription(
    `End a run: nothing more is sent under its id, by this run, a retry or a
  reset, unless somebody overrules that. What was sent stays. It needs a --reason.

  ${EXIT_CODES_HELP}`,
  ),
);
