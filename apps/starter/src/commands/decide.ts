import { Argument, Command } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage } from "../exit-codes.ts";
import { answering, approving, retrying, setting } from "./flag-sets.ts";
import { confirmed, id, json, maybeId, on, person, text } from "./flags.ts";
import { command } from "./run-command.ts";

/** `durable-payments answer`: answers a question about the outcome of a write. */
export const answer = command(
  "answer",
  answering,
  (output, payments, given, work) =>
    given.isAll
      ? work.answerAlike(output, payments, given)
      : work.answerOne(output, payments, given),
  "Answer a question about an unknown outcome",
  `Answer a question about a payment with an unknown outcome. At a terminal, it
  shows the question and what each answer does to the money, then asks for a
  confirmation. In a script, pass the --for that show prints: no other question
  is answered. resend and end require --reason.`,
  {
    "durable-payments answer invoice-17 --choose end --by ada --reason 'Order withdrawn'":
      "Read the question, and confirm the answer",
    "durable-payments answer --all --operation createBeneficiary --choose resend --reason outage --by ada":
      "Give one answer to similar questions",
  },
);

/** `durable-payments approve`: a second person approves an exact request. */
export const approve = command(
  "approve",
  approving,
  (output, payments, given, work) => work.approveShown(output, payments, given),
  "Approve a payment, a file or limits, as a second person",
  `Approve exactly what \`durable-payments inbox\` shows. At a terminal, it shows that
  and asks. In a script, pass the --hash that show and inbox print: nothing
  else is approved. A person who started, amended, overrode or resent it, or set
  the limits, cannot approve it.`,
);

/** `durable-payments reject`: a second person rejects it. */
export const reject = command(
  "reject",
  { id, ...person },
  async (output, payments, { id, ...given }, work) => {
    const acting = work.actingOf(given, true);
    await payments.reject(id, acting);
    output.answer({ workflowId: id, is: "rejected" }, (shown) =>
      work.decidedText(`${shown.workflowId}: rejected by ${acting.by}.`, shown),
    );
  },
  "Reject a payment or a file, as a second person",
  `Reject a payment that needs approval. Neither this run nor a retry sends
  anything more under its id, unless a person overrides it. Requires --reason.`,
);

/** `durable-payments retry`: retries a failed run, or makes an open one check again. */
export const retry = command(
  "retry",
  retrying,
  (output, payments, given, work) => {
    if (given.against !== undefined)
      return work.previewRetry(output, payments, given, given.against);
    return given.isAll
      ? work.retryAll(output, payments, given)
      : work.retryOne(output, payments, given);
  },
  "Retry a failed run, or all of them",
  `Retry a failed run: completed steps are kept, and the remaining steps run. An
  open run checks again immediately. A retry that cannot help is refused. A dry
  run also needs Temporal.

  With --all-failed, it starts a repair: a worker retries each run that matches
  once, even after this terminal is closed. show, pause, resume, cancel and
  approve accept the id of a repair, like that of a batch. The dry run of a
  repair needs only the ledger, except with --amend or --from. --since and
  --until compare the start of a run, not its end, as in list and failed.

  With --against, it previews the retries and starts none.`,
  {
    "durable-payments retry invoice-17 --dry-run --by ada": "See what would be done",
    "durable-payments retry invoice-17 --amend fix.json --reason 'wrong amount' --by ada":
      "Retry it with a corrected request",
    "durable-payments retry --all-failed --against ../next-release":
      "See what the next release would do",
    "durable-payments retry --all-failed --group payout-1a2b3c4d --dry-run --by ada":
      "See what a repair would do",
  },
  "Exit code 1 with --against: at least one run would not complete.",
);

const RUN = {
  asked:
    "Cancellation requested: the run stops after the request in flight. Requests already sent are not reversed.",
  terminated: "The run was terminated. Requests already sent are not reversed.",
  closed: "No run was open, so none was stopped.",
  unanswered: "Temporal did not cancel the run, so it may stay open; it sends nothing more.",
} as const;

const isForced = on("force", "Also terminate the run, so that none of its code runs");
const isStarted = on("started", "Of a batch, also stop the rows that have started");

/** `durable-payments cancel`: records a stop order for a run, or stops a batch. */
export const cancel = command(
  "cancel",
  { id, isForced, isStarted, ...confirmed },
  async (output, payments, given, work) => {
    const acting = work.actingOf(given, true);
    const { id, isForced, isStarted } = given;
    if (!given.yes) await work.confirmCancel(output, payments, given);
    if (await payments.isBatch(id)) {
      const ended = await payments.cancelBatch(id, { ...acting, isForced, isStarted });
      output.answer({ batch: id, ...ended }, work.cancelledBatchText);
      return;
    }
    if (isStarted) throw badUsage(`--started is for a batch, and the ledger has no batch ${id}.`);
    const { decision: _, ...ended } = await payments.cancel(id, { ...acting, isForced });
    output.answer({ workflowId: id, ...ended }, (shown) =>
      [
        `Stop order recorded for ${shown.workflowId}: nothing more is sent under this id, not even by a retry. ${RUN[shown.run]}`,
        ...work.succeededLines(shown.succeeded),
      ].join("\n"),
    );
  },
  "Stop a run, or the remaining rows of a batch",
  `Stop a run for good. Neither this run nor a retry or reset sends anything more
  under its id, unless a person overrides the stop order. Requests that were
  already sent are not reversed. With the id of a batch, it stops the rows that
  have not started, and with --started those that have. At a terminal, it shows
  what stops, and asks; a script passes --yes. Requires --reason.`,
);

const paused = { id: maybeId("A run or a batch; default: everything") };

const what = (of: string): string => (of === "" ? "All sends" : `Sends of ${of}`);

/** `durable-payments pause`: nothing is sent until it is resumed. */
export const pause = command(
  "pause",
  { ...paused, ...confirmed },
  async (output, payments, given, work) => {
    const acting = work.actingOf(given, true);
    if (given.id === undefined && !given.yes) await work.confirmPause(output, payments);
    output.answer(
      await payments.pause({ ...acting, id: given.id }),
      ({ by, of, reason }) =>
        `${what(of)} are paused by ${by}: ${reason}. Waits and checks continue.`,
    );
  },
  "Pause sending: everything, a batch, or a run",
  `Pause sending immediately, on all workers. It needs only the ledger, and works
  while Temporal is down. A pause of everything shows what it holds, and asks; a
  script passes --yes. Requires --reason.`,
);

/** `durable-payments resume`: sends are allowed again. */
export const resume = command(
  "resume",
  { ...paused, ...person },
  async (output, payments, given, work) => {
    output.answer(
      await payments.resume({ ...work.actingOf(given), id: given.id }),
      ({ of }) => `${what(of)} are resumed. What waited continues within seconds.`,
    );
  },
  "Resume sending",
  "Resume sending: everything, a batch, or a run.",
);

const showLimits = command(
  "show",
  { json },
  (output, payments, given, work) => work.showLimits(output, payments, given),
  "Show the limits of all accounts",
  `Show the limits of all accounts, and looser limits that wait for approval.`,
);

const setLimits = command(
  "set",
  setting,
  (output, payments, given, work) => work.changeLimits(output, payments, given),
  "Set the limits of an account",
  `Set the limits of an account. Each flag replaces all amounts of its kind; what
  is left out stays. Tighter limits apply at once. If one of them is looser, all
  wait until another person approves them (approve). Requires --reason.`,
  {
    "durable-payments limits set --max EUR=1000.00 --by ada --reason audit":
      "Pay at most EUR 1,000.00 at a time, and nothing in other currencies",
  },
);

/** `durable-payments limits`: shows and sets the limits of accounts. */
export const limits = Command.make("limits").pipe(
  Command.withShortDescription("Show or set the limits of accounts"),
  Command.withDescription("Show or set the limits of accounts"),
  Command.withSubcommands([showLimits, setLimits]),
);

const said = {
  word: Argument.String("WORD").pipe(
    Argument.withDescription("Status of a payout, as the service says it and inbox shows it"),
    Argument.optional,
  ),
  means: Argument.Literals("MEANING", ["completed", "failed", "returned", "open"]).pipe(
    Argument.withDescription(
      "completed: it is paid · failed: it was not paid · returned: it came back · open: under way",
    ),
    Argument.optional,
  ),
  account: text("account", "NAME", "Account, by its name or hash; default: the first one"),
  ...person,
};

/** `durable-payments word`: says what a status of the service means, or shows what was said. */
export const word = command(
  "word",
  said,
  async (output, payments, given, work) => {
    const means = Option.getOrUndefined(given.means);
    const word = Option.getOrUndefined(given.word);
    if (word === undefined) return work.showWords(output, payments, given);
    return work.sayWord(output, payments, { ...given, word, means });
  },
  "Say what a status of the service means",
  `Say what a status that the service gives to payouts means, if no setting lists
  it: paid (completed), failed, returned, or still open. The decision is recorded,
  and applies to all payouts of the account. To correct it, decide again: payouts
  whose outcome followed from the earlier meaning are then read again. Requires
  --reason. Without WORD, it lists the decisions of all accounts.`,
  {
    "durable-payments word": "All decisions, with person and date",
    "durable-payments word 'Paid out' completed --by ada --reason 'The bank statement shows it'":
      "Payouts with this status are paid",
  },
);
