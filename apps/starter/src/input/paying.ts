import type { FilePlan, Payments, StartedRun } from "@durable-payments/control/payments";
import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import { isBatchFile } from "@durable-payments/control/batch";
import type { PayFlags } from "../commands/flag-sets.ts";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { confirm } from "../output/ask.ts";
import { batchText, knownLines } from "../output/batch-text.ts";
import { nextLines } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { progressOf } from "../output/progress.ts";
import { runText } from "../output/run-text.ts";
import { counted } from "../output/text.ts";
import { checkWait, codeOfBatch, codeOfRun, followedBatch, followedRun } from "./following.ts";
import { actingOf, readJson } from "./given.ts";

/** Starts one run, or each row of a file. */
export const submit = async (
  output: Output,
  payments: Payments,
  start: "onboard" | "pay",
  flags: PayFlags,
): Promise<number | void> => {
  checkWait(flags);
  if (isBatchFile(flags.file)) return submitFile(output, payments, start, flags);
  return submitOne(output, payments, start, flags);
};

/** Checks the input of one run, and starts it or finds the one that exists. */
const submitOne = async (
  output: Output,
  payments: Payments,
  start: "onboard" | "pay",
  { approveAbove, by, file, id, isDryRun: isDry, key, notDuplicate, timeout, wait }: PayFlags,
): Promise<number | void> => {
  if (approveAbove !== undefined)
    throw badUsage(
      "--approve-above is for files. For one payment, set options.approval in the input.",
    );
  const acting = actingOf({ by });
  // The payments check it.
  const input = (await readJson(file)) as OnboardCardholderInput & PayoutInput;
  const run = await payments[start](input, { ...acting, id, isDryRun: isDry, key, notDuplicate });
  const { isDryRun, workflowId } = run;
  if (!wait || isDryRun) {
    const next = { action: "show", workflowId, isFollowed: true } as const;
    output.answer(run, (shown) =>
      [...startLines(shown), ...(isDryRun ? [] : nextLines([next]))].join("\n"),
    );
    return;
  }
  for (const line of startLines(visible(run))) output.say(line);
  const ended = await followedRun(output, payments, workflowId, { isWaiting: true, timeout });
  output.answer({ ...run, run: ended }, (shown) => runText(shown.run));
  return codeOfRun(ended);
};

/** Words the start of a run, or the check of its input. */
const startLines = (shown: StartedRun): ReadonlyArray<string> => {
  const warned = shown.warnings.map((warning) => `Warning: ${warning}`);
  if (shown.isDryRun)
    return [
      shown.isKnown
        ? `${shown.summary}: the input is valid. Its id ${shown.workflowId} already exists: nothing would be started.`
        : `${shown.summary}: the input is valid. Its id would be ${shown.workflowId}. Nothing was started.`,
      ...warned,
    ];
  const known = shown.isForgotten
    ? "was made earlier, according to the ledger. Nothing was started."
    : shown.isNew
      ? "started"
      : "already exists. Nothing was started.";
  return [`${shown.workflowId}  ${shown.summary}: ${known}`, ...warned];
};

type BatchState = NonNullable<FilePlan["state"]>;

const STATES: Readonly<Partial<Record<BatchState, string>>> = {
  needsApproval: "waiting for approval by a second person",
  reading: "waiting for approval by a second person",
  approved: "its rows are being started",
  finished: "finished: each row has its outcome, and nothing is started again",
  cancelled: "cancelled: no more of its rows are started. To start a row, put it into another file",
  rejected: "rejected: none of its rows is started. To start a row, put it into another file",
};

/** Words the state of a file; without an approval, nobody has approved it. */
const batchState = (state: BatchState, approvedBy: string | null): string =>
  state === "approved" && approvedBy !== null
    ? `approved by ${approvedBy}`
    : (STATES[state] ?? state);

/** Whether a person has stopped a file: a script must not take that for a success. */
const isStopped = (state: BatchState): boolean => state === "cancelled" || state === "rejected";

const planText = (plan: FilePlan): ReadonlyArray<string> => {
  const amounts = Object.entries(plan.totals).map(([currency, total]) => `${total} ${currency}`);
  return [
    `${counted(plan.rows, "row")}, all valid. To ${plan.type === "payout" ? "pay" : "onboard"}: ${counted(plan.toPay, "row")}, ${amounts.join(", ") || "nothing"}`,
    `Batch: ${plan.batch}${plan.state === null ? "" : `, uploaded before: ${batchState(plan.state, plan.approvedBy)}`}`,
    ...knownLines(plan),
    ...plan.unlikely.map((warning) => `Warning: ${warning}`),
    ...plan.warnings,
    ...(plan.needsApproval ? ["A second person has to approve it before any row is started."] : []),
  ];
};

/** Whether the start of a checked file would be refused, or start nothing of a file that was stopped. */
const wouldBeRefused = ({ state, warnings }: FilePlan, notDuplicate: string | undefined): boolean =>
  state === null ? warnings.length > 0 && notDuplicate === undefined : isStopped(state);

/** Checks a file, shows its totals, and starts its rows after a confirmation. */
const submitFile = async (
  output: Output,
  payments: Payments,
  start: "onboard" | "pay",
  { approveAbove, by, file, id, isDryRun, key, notDuplicate, timeout, wait, window, yes }: PayFlags,
): Promise<number | void> => {
  if (id !== undefined || key !== undefined)
    throw badUsage("--id and --key are for one run: each row of a file has its own key.");
  const options = { ...actingOf({ by }), approveAbove, notDuplicate, window };
  const type = start === "pay" ? "payout" : "onboardCardholder";
  const plan = isDryRun || !yes ? await payments.checkFile(file, { ...options, type }) : undefined;
  if (plan !== undefined && isDryRun) {
    output.answer({ ...plan, isDryRun }, (shown) =>
      [...planText(shown), "Nothing was started."].join("\n"),
    );
    return wouldBeRefused(plan, notDuplicate) ? EXIT_CODES.refused : undefined;
  }
  if (plan !== undefined && plan.state === null) {
    for (const line of planText(visible(plan))) output.say(line);
    await confirm(
      start === "pay" ? "Pay this file?" : "Onboard these people?",
      "Nothing was started.",
    );
  }
  const uploading = progressOf(
    output,
    "No row is started until all are uploaded. To continue, give the file again: each row is started once.",
  );
  const onPart = (rows: number, of: number) =>
    uploading(`${rows} of ${counted(of, "row")} uploaded`);
  const given = { ...options, batch: plan?.batch, onPart };
  const started = await (start === "pay"
    ? payments.payFile(file, given)
    : payments.onboardFile(file, given));
  const uploaded = `${started.batch}: uploaded by ${started.createdBy}, ${batchState(started.state, started.approvedBy)}`;
  if (!wait) {
    output.answer(started, ({ batch: workflowId }) =>
      [uploaded, ...nextLines([{ action: "show", workflowId }])].join("\n"),
    );
    return isStopped(started.state) ? EXIT_CODES.refused : undefined;
  }
  output.say(uploaded);
  const ended = await followedBatch(output, payments, started.batch, { isWaiting: true, timeout });
  output.answer({ ...started, ended }, (shown) => batchText(shown.ended));
  return codeOfBatch(ended);
};
