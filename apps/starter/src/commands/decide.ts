import { Command, Flag } from "effect/cli";
import { by, count, id, json, maybeId, on, orUndefined, reason, text, time, yes } from "./flags.ts";
import { described, runAct, runCommand } from "./run-command.ts";

const answering = {
  id: maybeId("Workflow id of the run that asks"),
  choose: Flag.Literals("choose", ["found", "resend", "end"]).pipe(
    Flag.withDescription(
      "found: it was carried out · resend: send it again · end: send nothing more",
    ),
    orUndefined,
  ),
  question: text("for", "QUESTION", "Id of the question that you have read"),
  found: text("found", "ID", "The service's id of what was made"),
  isAll: on("all", "Give one answer to all questions about an operation"),
  operation: text("operation", "NAME", "With --all: such as createBeneficiary"),
  by,
  reason,
  yes,
  json,
};

export type AnswerFlags = Command.Command.Config.Infer<typeof answering>;

/** `starter answer`: answers what a run asks about the outcome of a write. */
export const answer = Command.make("answer", answering, (given) =>
  runCommand(given.json, (output, work) =>
    given.isAll ? work.answerAlike(output, given) : work.answerOne(output, given),
  ),
).pipe(
  described(
    "Answer what a run asks",
    `Answer what a run asks about a payment whose outcome is unknown. At a
  terminal it shows the question, what each answer does to the money, and asks;
  in a script give --choose and --for.`,
    [
      { command: "starter answer invoice-17", description: "Read the question, and choose" },
      {
        command:
          "starter answer --all --operation createBeneficiary --choose resend --reason outage",
        description: "Answer what is alike at once",
      },
    ],
  ),
);

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
      runAct(given, name === "reject", async (operations, acting, output, work) => {
        if ((await operations.ledger.batch(id)) !== undefined) {
          await work.decideBatch(operations, id, name, acting);
          output.answer(
            { batch: id, is: done },
            (shown) => `${shown.batch}: ${done} by ${acting.by}.`,
          );
          return;
        }
        const decision = { ...acting, question: given.question };
        const { nudged } = await work[name](operations, id, decision);
        output.answer({ workflowId: id, is: done, nudged }, (shown) =>
          work.decidedText(`${shown.workflowId}: ${done} by ${acting.by}.`, shown),
        );
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

const retrying = {
  id: maybeId("Workflow id of the run; of a child its root is retried"),
  amend: text(
    "amend",
    "FILE",
    "Change its input: a JSON file with the changed fields, null removes one",
  ),
  isRestarted: on("restart", "Start a workflow of your own from its begin, in place of a reset"),
  isOverruling: on("override", "Overrule a person's end, by name and with a reason"),
  isAll: on("all-failed", "Retry every run that failed and can be helped"),
  since: time("since", "TIME", "With --all-failed: closed since, such as 24h"),
  type: text("type", "TYPE", "With --all-failed: only this workflow type"),
  batch: text("batch", "ID", "With --all-failed: only rows of this batch"),
  rate: count("rate", "With --all-failed: runs a second; default 5", 5),
  isDryRun: on("dry-run", "Show what would be done"),
  ifRun: text("if-run", "RUN", "Refuse if a newer run exists"),
  by,
  reason,
  yes,
  json,
};

export type RetryFlags = Command.Command.Config.Infer<typeof retrying>;

/** `starter retry`: has a failed run continue, or an open one look again. */
export const retry = Command.make("retry", retrying, (given) =>
  runCommand(given.json, (output, work) =>
    given.isAll ? work.retryAll(output, given) : work.retryOne(output, given),
  ),
).pipe(
  described(
    "Retry a failed run, or all of them",
    `Retry a failed run: what is done is kept, the rest follows. An open run is
  asked to look again at once. A retry that cannot help is refused.`,
    [
      { command: "starter retry invoice-17 --dry-run", description: "See what would be done" },
      {
        command: "starter retry invoice-17 --amend fix.json --reason 'wrong amount'",
        description: "Retry it with another request",
      },
    ],
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
export const cancel = Command.make("cancel", { id, isForced, by, reason, json }, (given) =>
  runAct(given, true, async (operations, acting, output, work) => {
    const { id, isForced } = given;
    if ((await operations.ledger.batch(id)) !== undefined) {
      const { rejected } = await work.decideBatch(operations, id, "cancel", acting);
      output.answer(
        { batch: id, notStarted: rejected },
        (shown) =>
          `${shown.batch} is cancelled: ${shown.notStarted} rows are not paid. Runs that were started continue.`,
      );
      return;
    }
    const { run } = await work.cancel(operations, id, { ...acting, isForced });
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

const paused = { id: maybeId("A run or a batch; without it everything"), by, reason, json };

const what = (of: string): string => (of === "" ? "All sends" : `Sends of ${of}`);

/** `starter pause`: nothing is sent until it is resumed. */
export const pause = Command.make("pause", paused, (given) =>
  runAct(given, true, async (operations, acting, output, work) => {
    output.answer(
      await work.pause(operations, given.id, acting),
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
  runAct(given, false, async (operations, acting, output, work) => {
    output.answer(await work.resume(operations, given.id, acting), ({ nudged, of, unanswered }) =>
      [
        `${what(of)} are resumed; ${nudged} runs were asked to look.`,
        ...work.unansweredLines(unanswered),
      ].join("\n"),
    );
  }),
).pipe(described("Resume sending", "Resume sending: of everything, a batch, or a run."));
