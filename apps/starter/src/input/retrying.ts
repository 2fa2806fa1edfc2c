import type { NextAction } from "@durable-payments/control/errors";
import type { OneOfMany, Payments, RetryPlan } from "@durable-payments/control/payments";
import type { RetryFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { confirm } from "../output/ask.ts";
import { nextLines } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { progressOf } from "../output/progress.ts";
import { counted, section, wrap } from "../output/text.ts";
import { actingOf, readJson } from "./given.ts";

type HowRetried = "isAmended" | "isOverruling" | "isRestarted";

const WAYS: Readonly<Record<RetryPlan["way"], string>> = {
  start: "starts the workflow id again",
  reset: "resets the run to the failing step; its own activities keep their results",
  look: "makes the open run check again",
};

const planText = ({ again, kept, way, workflowId }: RetryPlan): ReadonlyArray<string> => [
  `${workflowId}: ${WAYS[way]}`,
  ...(kept.length === 0 ? [] : [wrap(`Kept: ${kept.join(", ")}`, "  ")]),
  ...(again.length === 0
    ? []
    : [wrap(`Will run: ${again.map(({ state, step }) => `${step} (${state})`).join(", ")}`, "  ")]),
];

const OVERRULED =
  "The stop order is overridden: another person has to approve everything that is sent, neither you nor who started it.";

/** Returns the command of the retry that a dry run has shown, with all its flags. */
export const retryNext = (
  { runId, workflowId }: Pick<RetryPlan, "runId" | "workflowId">,
  { isAmended, isOverruling, isRestarted }: Readonly<Record<HowRetried, boolean>>,
): NextAction => ({
  action: "retry",
  workflowId,
  ifRun: runId,
  isAmended,
  isOverruling,
  isRestarted,
});

/** Retries one run, or shows its plan. */
export const retryOne = async (
  output: Output,
  payments: Payments,
  flags: RetryFlags,
): Promise<void> => {
  const { amend, batch, id, ifRun, isDryRun, isOverruling, isRestarted, since, type } = flags;
  if (id === undefined) throw badUsage("Which run? Give its ID, or --all-failed.");
  if (since !== undefined || type !== undefined || batch !== undefined)
    throw badUsage("--since, --type and --batch require --all-failed.");
  const isAmended = amend !== undefined;
  const acting = actingOf(flags, isOverruling || isAmended);
  const how = { isDryRun, isOverruling, isRestarted, ifRun };
  const patch = isAmended ? await readJson(amend) : undefined;
  const planned = await payments.retry(id, { ...acting, ...how, amend: patch });
  const { amended, isDryRun: _, newRunId, warnings, ...plan } = planned;
  const textOf = (shown: RetryPlan, more: ReadonlyArray<string>, next: NextAction) =>
    [
      ...planText(shown),
      ...more,
      ...(isOverruling ? [OVERRULED] : []),
      ...(isDryRun ? ["Nothing was done."] : []),
      ...nextLines([next]),
    ].join("\n");
  if (newRunId !== null) {
    const next = { action: "show", workflowId: plan.workflowId, isFollowed: true } as const;
    output.answer({ ...plan, newRunId }, (shown) => textOf(shown, [], next));
    return;
  }
  output.answer({ ...plan, amended, warnings, isDryRun }, (shown) => {
    const lines = [
      ...(shown.amended.length === 0 ? [] : [`Amended: ${shown.amended.join("; ")}`]),
      ...shown.warnings.map((warning) => `Warning: ${warning}`),
    ].map((line) => wrap(line, "  "));
    return textOf(shown, lines, retryNext(shown, { ...flags, isAmended }));
  });
};

/** Words a bulk retry: the runs that it helps, and those that it cannot, with the reason. */
export const manyText = (runs: ReadonlyArray<OneOfMany>, isDone: boolean): string => {
  const helped = runs.flatMap(({ way, workflowId }) =>
    way === undefined ? [] : [[workflowId, WAYS[way]]],
  );
  const refused = runs.flatMap(({ whyNot, workflowId }) =>
    whyNot === undefined ? [] : [[workflowId, whyNot]],
  );
  return [
    `${counted(helped.length, "failed run")} ${isDone ? "retried" : "can be retried"}.`,
    ...section(isDone ? "Retried" : "Can be retried", helped),
    ...section(isDone ? "Not retried" : "Cannot be retried", refused),
  ].join("\n");
};

/** Retries all failed runs that a retry can help, after a confirmation. */
export const retryAll = async (
  output: Output,
  payments: Payments,
  flags: RetryFlags,
): Promise<void> => {
  const { amend, batch, id, isDryRun, isOverruling, rate, since, type, yes } = flags;
  if (id !== undefined || amend !== undefined || isOverruling)
    throw badUsage(
      "--all-failed cannot be combined with an ID, --amend or --override, which apply to one run.",
    );
  const acting = actingOf(flags);
  const checking = progressOf(output, "Nothing was retried.");
  const onChecked = (checked: number) => checking(`${checked} failed runs checked`);
  const which = { batch, since, type, onPart: onChecked };
  const planned = await payments.planRetries({ ...acting, ...which });
  const helped = planned.filter(({ whyNot }) => whyNot === undefined);
  if (isDryRun || helped.length === 0) {
    output.answer({ planned, isDryRun }, (shown) => manyText(shown.planned, false));
    return;
  }
  if (!yes) {
    output.say(manyText(planned, false));
    await confirm(`Retry ${counted(helped.length, "run")}?`, "Nothing was done.");
  }
  const retrying = progressOf(
    output,
    "The next one may have been retried, the others were not. Run it again to continue.",
  );
  const onPart = (done: ReadonlyArray<OneOfMany>) =>
    retrying(`${done.length} of ${helped.length} runs retried`);
  const runs = await payments.retryMany(planned, { ...acting, rate, onPart });
  output.answer({ runs }, (shown) => manyText(shown.runs, true));
};
