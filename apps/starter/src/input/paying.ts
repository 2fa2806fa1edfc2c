import type { Assumptions } from "@durable-payments/client";
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
  summaryOf,
  warningsOf,
} from "@durable-payments/control";
import type { OnboardFlags, PayFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { confirm } from "../output/ask.ts";
import { knownLines } from "../output/batch-text.ts";
import { nextLines } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { counted } from "../output/text.ts";
import { assumptionsHere, operating } from "../settings.ts";
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
): Promise<void> => {
  const { by: startedBy, how } = actingOf(given);
  const planned = plan(await readJson(file), assumptionsHere());
  const workflowId = idOf(planned, { id, key });
  const summary = summaryOf(paymentOf(planned.input), planned.workflowType);
  const options = { startedBy, how, notDuplicate };
  const start = isDryRun ? checkStart : startRun;
  const run = await operating((operations) => start(operations, workflowId, planned, options));
  const isKnown = run !== undefined;
  const warnings = warningsOf(planned, Date.now());
  const answer = { isNew: false, ...run, workflowId, summary, isDryRun, isKnown, warnings };
  output.answer(answer, (shown) => {
    const warned = shown.warnings.map((warning) => `Warning: ${warning}`);
    if (shown.isDryRun)
      return [
        shown.isKnown
          ? `${shown.summary}: the input is valid. Its id ${shown.workflowId} already exists: nothing would be started.`
          : `${shown.summary}: the input is valid. Its id would be ${shown.workflowId}. Nothing was started.`,
        ...warned,
      ].join("\n");
    const known = shown.isForgotten
      ? "was made earlier, according to the ledger. Nothing was started."
      : shown.isNew
        ? "started"
        : "already exists. Nothing was started.";
    return [
      `${shown.workflowId}  ${shown.summary}: ${known}`,
      ...warned,
      ...nextLines([{ operation: "show", workflowId: shown.workflowId, isFollowed: true }]),
    ].join("\n");
  });
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
): Promise<void> => {
  if (id !== undefined || key !== undefined)
    throw badUsage("--id and --key are for one payment: each row of a file has its own key.");
  const options = { ...actingOf(given), approveAbove, notDuplicate, window };
  checkPayOptions(options);
  const checked = await checkBatchFile(file, assumptionsHere());
  await operating(async (operations) => {
    const plan = await planFile(operations, checked, options);
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
    const batch = await payFile(operations, checked, plan, options);
    const isAsking = batch.state === "needsApproval" || batch.state === "reading";
    const { createdBy } = batch;
    output.answer({ ...plan, state: batch.state, createdBy }, ({ batch: workflowId, state }) =>
      [
        `${workflowId}: uploaded by ${createdBy}, ${isAsking ? "waiting for approval by a second person" : state}`,
        ...nextLines([{ operation: "show", workflowId }]),
      ].join("\n"),
    );
  });
};
