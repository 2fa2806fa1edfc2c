import type { Assumptions } from "@durable-payments/client/effect";
import {
  checkBatchFile,
  checkId,
  checkPayOptions,
  checkStart,
  type FilePlan,
  idOfKey,
  payFile,
  paymentOf,
  planFile,
  type PlannedRun,
  startRun,
  type SubmittedRun,
  summaryOf,
  warningsOf,
} from "@durable-payments/control";
import type { OnboardFlags, PayFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { confirm } from "../output/ask.ts";
import { batchText, knownLines } from "../output/batch-text.ts";
import { nextLines } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { progressOf } from "../output/progress.ts";
import { runText } from "../output/run-text.ts";
import { counted } from "../output/text.ts";
import { assumptionsHere, operating } from "../settings.ts";
import { checkWait, codeOfBatch, codeOfRun, followedBatch, followedRun } from "./following.ts";
import { actingOf, readJson } from "./given.ts";

type IdFlags = Pick<OnboardFlags, "id" | "key">;

/** Returns the id of one run: given, made of a key, or of the content. */
const idOf = ({ contentId, workflowType }: PlannedRun, { id, key }: IdFlags): string => {
  if (id !== undefined && key !== undefined)
    throw badUsage("Give --key or --id: the id is made of the key.");
  return key === undefined ? checkId(id ?? contentId) : idOfKey(workflowType, key);
};

/** Checks the input of one run, and starts it or finds the one that exists. */
export const submit = async (
  output: Output,
  plan: (input: unknown, assumptions: Assumptions) => PlannedRun,
  { file, id, isDryRun, key, notDuplicate, ...given }: OnboardFlags,
): Promise<number | void> => {
  checkWait(given);
  const { by: startedBy, how = "" } = actingOf(given);
  const planned = plan(await readJson(file), assumptionsHere());
  const workflowId = idOf(planned, { id, key });
  const summary = summaryOf(paymentOf(planned.input), planned.workflowType);
  const options = { startedBy, how, notDuplicate };
  const start = isDryRun ? checkStart : startRun;
  return operating(async (connected) => {
    const run = await start(connected, workflowId, planned, options);
    const isKnown = run !== undefined;
    const warnings = warningsOf(planned, Date.now());
    const answer = { isNew: false, ...run, workflowId, summary, isDryRun, isKnown, warnings };
    if (!given.wait || isDryRun) {
      const next = { action: "show", workflowId, isFollowed: true } as const;
      output.answer(answer, (shown) =>
        [...startLines(shown), ...(isDryRun ? [] : nextLines([next]))].join("\n"),
      );
      return;
    }
    for (const line of startLines(visible(answer))) output.say(line);
    const sources = { ledger: connected.ledger, temporal: connected, whyNot: [] };
    const how = { isWaiting: true, timeout: given.timeout };
    const ended = await followedRun(output, sources, workflowId, how);
    output.answer({ ...answer, run: ended }, (shown) => runText(shown.run));
    return codeOfRun(ended);
  });
};

/** Words the start of a run, or the check of its input. */
const startLines = (
  shown: Partial<SubmittedRun> &
    Readonly<Record<"isDryRun" | "isKnown" | "isNew", boolean>> &
    Readonly<Record<"summary" | "workflowId", string>> & {
      readonly warnings: ReadonlyArray<string>;
    },
): ReadonlyArray<string> => {
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

const planText = (plan: FilePlan): ReadonlyArray<string> => {
  const amounts = Object.entries(plan.totals).map(([currency, total]) => `${total} ${currency}`);
  return [
    `${counted(plan.rows, "row")}, all valid. To pay: ${counted(plan.rows - plan.known.length, "row")}, ${amounts.join(", ") || "nothing"}`,
    `Batch: ${plan.batch}`,
    ...knownLines(plan.known),
    ...plan.unlikely.map((warning) => `Warning: ${warning}`),
    ...plan.warnings,
    ...(plan.needsApproval ? ["A second person has to approve it before anything is paid."] : []),
  ];
};

/** Checks a file of payments, shows its totals, and pays it after a confirmation. */
export const submitFile = async (
  output: Output,
  { approveAbove, file, id, isDryRun, key, notDuplicate, window, yes, ...given }: PayFlags,
): Promise<number | void> => {
  checkWait(given);
  if (id !== undefined || key !== undefined)
    throw badUsage("--id and --key are for one payment: each row of a file has its own key.");
  const options = { ...actingOf(given), approveAbove, notDuplicate, window };
  checkPayOptions(options);
  const checking = progressOf(output, "Nothing was started.");
  const checked = await checkBatchFile(file, assumptionsHere());
  checking(`${counted(checked.rows.length, "row")} read`);
  return operating(async (connected) => {
    const plan = await planFile(connected, checked, options);
    if (isDryRun) {
      output.answer({ ...plan, isDryRun }, (shown) =>
        [...planText(shown), "Nothing was started."].join("\n"),
      );
      return;
    }
    if (!yes && !plan.isUploaded) {
      for (const line of planText(plan)) output.say(line);
      await confirm("Pay this file?", "Nothing was started.");
    }
    const uploading = progressOf(
      output,
      "No row is paid until all are uploaded. To continue, pay the file again: each row is paid once.",
    );
    const onPart = (rows: number) => uploading(`${rows} of ${plan.rows} rows uploaded`);
    const batch = await payFile(connected, checked, plan, { ...options, onPart });
    const isAsking = batch.state === "needsApproval" || batch.state === "reading";
    const { createdBy, state } = batch;
    const uploaded = `${plan.batch}: uploaded by ${createdBy}, ${isAsking ? "waiting for approval by a second person" : state}`;
    const answer = { ...plan, state, createdBy };
    if (!given.wait) {
      output.answer(answer, ({ batch: workflowId }) =>
        [uploaded, ...nextLines([{ action: "show", workflowId }])].join("\n"),
      );
      return;
    }
    output.say(uploaded);
    const how = { isWaiting: true, timeout: given.timeout };
    const ended = await followedBatch(output, connected.ledger, plan.batch, how);
    output.answer({ ...answer, ended }, (shown) => batchText(shown.ended));
    return codeOfBatch(ended);
  });
};
