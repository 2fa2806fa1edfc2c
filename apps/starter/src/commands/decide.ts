import { Argument, Command } from "effect/cli";
import * as Option from "effect/Option";
import { by, id, ifRun, json, on, reason, text } from "./flags.ts";
import { described, runAct } from "./run-command.ts";

const verdict = (name: "approve" | "reject", done: string) =>
  Command.make(
    name,
    {
      id,
      question: text("for", "QUESTION", "Which approval, where a run waits for several"),
      by,
      reason,
      json,
    },
    ({ id, ...given }) =>
      runAct(given, async (operations, acting, output) => {
        const { decidedText } = await import("../output/decided.ts");
        const { approveBatch, rejectBatch } = await import("@durable-payments/operations/batch");
        const { approve, reject } = await import("@durable-payments/operations/decide");
        if ((await operations.ledger.batch(id)) !== undefined) {
          await (name === "approve" ? approveBatch : rejectBatch)(operations, id, acting);
          output.answer(
            { batch: id, is: done },
            (shown) => `${shown.batch}: ${done} by ${acting.by}.`,
          );
          return;
        }
        const decision = { ...acting, question: Option.getOrUndefined(given.question) };
        const { nudged } = await (name === "approve" ? approve : reject)(operations, id, decision);
        output.answer({ workflowId: id, is: done, nudged }, (shown) => {
          const line = `${shown.workflowId}: ${done} by ${acting.by}.`;
          return decidedText(line, shown.workflowId, shown.nudged);
        });
      }),
  );

/** `starter approve`: a second person approves exactly what is to be sent. */
export const approve = verdict("approve", "approved").pipe(
  described(
    "Approve a payment or a file, as a second person",
    `Approve exactly what \`starter show ID\` shows; another request asks again.
  Whoever started, amended, overruled or resent it cannot approve it.`,
  ),
);

/** `starter reject`: a second person keeps it from being sent. */
export const reject = verdict("reject", "rejected").pipe(
  described(
    "Reject a payment or a file, as a second person",
    `Reject what waits for an approval: nothing more is sent under its id, by this
  run or a retry. It needs a --reason.`,
  ),
);

const RUN = {
  asked: "Cancellation requested: it stops after the request in flight; nothing sent is reversed.",
  terminated: "The run was terminated; nothing sent is reversed.",
  closed: "No run was open.",
  unanswered: "Temporal does not answer, so the run may stay open; it sends nothing more.",
} as const;

const isForced = on("force", "Terminate the run: it undoes nothing");

/** `starter cancel`: ends a run, or a batch, by a person's decision. */
export const cancel = Command.make(
  "cancel",
  { id, isForced, ifRun, by, reason, json },
  ({ id, ...given }) =>
    runAct(given, async (operations, acting, output) => {
      const { cancelBatch } = await import("@durable-payments/operations/batch");
      const { cancel: cancelRun } = await import("@durable-payments/operations/ending");
      if ((await operations.ledger.batch(id)) !== undefined) {
        const { rejected } = await cancelBatch(operations, id, acting);
        output.answer(
          { batch: id, notStarted: rejected },
          (shown) =>
            `${shown.batch} is cancelled: ${shown.notStarted} rows are not paid. Runs that were started continue.`,
        );
        return;
      }
      const ifRun = Option.getOrUndefined(given.ifRun);
      const options = { ...acting, isForced: given.isForced, ifRun };
      const { run } = await cancelRun(operations, id, options);
      output.answer(
        { workflowId: id, run },
        (shown) =>
          `END recorded for ${shown.workflowId}: nothing more is sent under it, also not by a retry. ${RUN[shown.run]}`,
      );
    }),
).pipe(
  described(
    "End a run, or stop starting a batch",
    `End a run: nothing more is sent under its id, by this run, a retry or a
  reset, unless somebody overrules that. What was sent stays. It needs a --reason.`,
  ),
);

const paused = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("A run or a batch; without it everything"),
    Argument.optional,
  ),
  by,
  reason,
  json,
};

const what = (of: string): string => (of === "" ? "All sends" : `Sends of ${of}`);

/** `starter pause`: nothing is sent until it is resumed. */
export const pause = Command.make("pause", paused, (given) =>
  runAct(given, async (operations, acting, output) => {
    const { pause: pauseSends } = await import("@durable-payments/operations/pause");
    output.answer(
      await pauseSends(operations, Option.getOrUndefined(given.id), acting),
      ({ by, of, reason }) =>
        `${what(of)} are paused by ${by}: ${reason}. Waits and checks continue.`,
    );
  }),
).pipe(
  described(
    "Pause sending: everything, a batch, or a run",
    "Pause sending, at once and on all workers. It needs a --reason.",
  ),
);

/** `starter resume`: sends are allowed again. */
export const resume = Command.make("resume", paused, (given) =>
  runAct(given, async (operations, acting, output) => {
    const { resume: resumeSends } = await import("@durable-payments/operations/pause");
    output.answer(
      await resumeSends(operations, Option.getOrUndefined(given.id), acting),
      ({ nudged, of, unanswered }) =>
        [
          `${what(of)} are resumed; ${nudged} runs were asked to look.`,
          ...(unanswered > 0
            ? [`Temporal did not answer for ${unanswered}: the tracker notifies those runs.`]
            : []),
        ].join("\n"),
    );
  }),
).pipe(described("Resume sending", "Resume sending: of everything, a batch, or a run."));
