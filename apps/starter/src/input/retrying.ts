import type { NextAction } from "@durable-payments/control/errors";
import { isBatchFile, readAmendments } from "@durable-payments/control/batch";
import type { Payments, RetryPlan } from "@durable-payments/control/payments";
import type { ListFilter } from "@durable-payments/control/show";
import type { FailedFlags, RetryFlags } from "../commands/flag-sets.ts";
import * as Struct from "effect/Struct";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { confirm } from "../output/ask.ts";
import { nextLines } from "../output/next.ts";
import { visible } from "../output/output.ts";
import { failedText, repairPlanText } from "../output/repair-text.ts";
import { counted, joined, joinedLines, wrap } from "../output/text.ts";
import { type Act, actingOf, readJson } from "./given.ts";

/** Conditions that a filter takes as they are given. */
const CONDITIONS = ["batch", "error", "group", "payee", "repair", "step", "type"] as const;

type HowRetried = "isAmended" | "isOverruling" | "isRestarted";

const WAYS: Readonly<Record<RetryPlan["way"], string>> = {
  start: "starts the workflow id again",
  reset: "resets the run to the failing step; its own activities keep their results",
  look: "makes the open run check again",
};

const planText = ({ again, from, kept, way, workflowId }: RetryPlan): string =>
  joinedLines([
    `${workflowId}: ${from === undefined ? WAYS[way] : `resets the run to ${from}; its own activities before it keep their results`}`,
    kept.length > 0 && wrap(`Kept: ${kept.join(", ")}`, "  "),
    again.length > 0 &&
      wrap(`Will run: ${again.map(({ state, step }) => `${step} (${state})`).join(", ")}`, "  "),
  ]);

const NEEDS_REASON = { needs: "notDuplicate" } as const;

const OVERRULED =
  "The stop order is overridden. Another person has to approve everything that is sent: neither you nor the person who started it.";

/** Returns the command of the retry that a dry run has shown, with all its flags. */
export const retryNext = (
  { from, runId, workflowId }: Pick<RetryPlan, "from" | "runId" | "workflowId">,
  { isAmended, isOverruling, isRestarted }: Readonly<Record<HowRetried, boolean>>,
): NextAction => ({
  action: "retry",
  workflowId,
  ifRun: runId,
  from,
  isAmended,
  isOverruling,
  isRestarted,
});

/** Reads the fields of one run's input that change. */
export const readPatch = (amend: string): Promise<unknown> => {
  if (!isBatchFile(amend)) return readJson(amend);
  throw badUsage(
    "Amendments in CSV or JSON Lines require --all-failed. For one run, give a JSON file with the fields that change.",
  );
};

/** Retries one run, or shows its plan. */
export const retryOne: Act<RetryFlags> = async (output, payments, flags) => {
  const { amend, from, id, ifRun, isDryRun, isOverruling, isRestarted, notDuplicate } = flags;
  if (id === undefined) throw badUsage("Which run? Give its ID, or --all-failed.");
  const conditions = [...CONDITIONS, "account", "approveAbove", "since", "until"] as const;
  if (conditions.some((name) => flags[name] !== undefined))
    throw badUsage(
      "Conditions such as --type and --since, and --approve-above, require --all-failed.",
    );
  const isAmended = amend !== undefined;
  const acting = actingOf(flags, isOverruling || isAmended);
  const how = { isDryRun, isOverruling, isRestarted, ifRun, from, notDuplicate };
  const patch = isAmended ? await readPatch(amend) : undefined;
  const planned = await payments.retry(id, { ...acting, ...how, amend: patch });
  const { isDryRun: _, newRunId, ...plan } = planned;
  output.answer({ ...plan, ...(newRunId === null ? { isDryRun } : { newRunId }) }, (shown) => {
    const { amended, warnings, workflowId } = shown;
    const next: NextAction = isDryRun
      ? { ...retryNext(shown, { ...flags, isAmended }), ...(notDuplicate && NEEDS_REASON) }
      : { action: "show", workflowId, isFollowed: true };
    return joinedLines([
      planText(shown),
      amended.length > 0 && wrap(`Amended: ${amended.join("; ")}`, "  "),
      warnings.map((warning) => wrap(`Warning: ${warning}`, "  ")),
      isOverruling && OVERRULED,
      isDryRun && "Nothing was done.",
      nextLines([next]),
    ]);
  });
};

/** Returns the filter of flags: the words of `list`. */
export const conditionsOf = (payments: Payments, given: Omit<FailedFlags, "json">): ListFilter => {
  const { account, since, until } = given;
  return {
    ...Struct.pick(given, CONDITIONS),
    account: account === undefined ? undefined : payments.account(account),
    startedSince: since?.getTime(),
    startedUntil: until?.getTime(),
  };
};

/** Reads which failed runs a repair has, and their amendments. */
export const selected = async (
  payments: Payments,
  { amend, id, ifRun, isOverruling, isRestarted, ...filter }: RetryFlags,
) => {
  if (id !== undefined || ifRun !== undefined || isOverruling || isRestarted)
    throw badUsage(
      "--all-failed cannot be combined with an ID, --if-run, --override or --restart, which apply to one run.",
    );
  const isEach = amend !== undefined && isBatchFile(amend);
  return {
    filter: conditionsOf(payments, filter),
    amendments: {
      amend: amend === undefined || isEach ? undefined : await readJson(amend),
      amendEach: isEach ? await readAmendments(amend) : undefined,
    },
  };
};

/** Says which steps and types failed runs have, if none of them matches a condition, which may be mistyped. */
const noneText = async (
  payments: Payments,
  { step, type }: Pick<FailedFlags, "step" | "type">,
): Promise<string | false> => {
  const groups = step === undefined && type === undefined ? [] : await payments.failed();
  const list = (of: "step" | "type") => joined([...new Set(groups.map((one) => one[of]))], ", ");
  return (
    groups.length > 0 &&
    wrap(`Failed runs have these steps: ${list("step")}, and these types: ${list("type")}.`)
  );
};

/** Shows the groups of failed runs, or what a retry of one group would do. */
export const showFailed: Act<FailedFlags> = async (output, payments, flags) => {
  const filter = conditionsOf(payments, flags);
  const groups = await payments.failed(filter);
  const { account, batch, group, payee, repair, since, until } = flags;
  const none = groups.length === 0 && (await noneText(payments, flags));
  // A command that leaves out a condition would retry other runs.
  const isWhole = payee === undefined && since === undefined && until === undefined;
  const next = isWhole ? [{ action: "retryAll", account, batch, repair } as const] : [];
  if (group === undefined)
    return output.answer({ groups }, (shown) => joinedLines([failedText(shown, next), none]));
  const plan = await payments.planRepair(filter, { by: "nobody" });
  output.answer({ groups, plan }, (shown) =>
    joinedLines([
      failedText({ groups: shown.groups }),
      "",
      repairPlanText(shown.plan),
      shown.plan.retries.length > 0 && nextLines(next.map((one) => ({ ...one, group }))),
    ]),
  );
};

/** Makes a repair of all failed runs that match, after a confirmation; or shows its plan. */
export const retryAll: Act<RetryFlags> = async (output, payments, flags) => {
  const { amend, approveAbove, from, isDryRun, notDuplicate, rate, window } = flags;
  const acting = actingOf(flags, amend !== undefined);
  const { amendments, filter } = await selected(payments, flags);
  const options = { ...acting, ...amendments, approveAbove, from, notDuplicate, rate, window };
  const plan = isDryRun || !flags.yes ? await payments.planRepair(filter, options) : undefined;
  if (plan !== undefined && (isDryRun || plan.retries.length === 0)) {
    const isNone = plan.retries.length + plan.notHelped.length === 0;
    const none = isNone && (await noneText(payments, flags));
    output.answer({ ...plan, isDryRun }, (shown) =>
      joinedLines([repairPlanText(shown), none, "Nothing was done."]),
    );
    return isDryRun ? undefined : EXIT_CODES.refused;
  }
  if (plan !== undefined) {
    output.say(repairPlanText(visible(plan)));
    await confirm(`Retry ${counted(plan.retries.length, "run")}?`, "Nothing was done.");
  }
  const started = await payments.repair(filter, { ...options, content: plan?.content });
  output.answer(started, (shown) =>
    [
      repairPlanText(shown),
      `${shown.repair}: ${shown.state === "needsApproval" ? "waiting for approval by a second person" : shown.state === "approved" ? "started" : shown.state}`,
      ...nextLines([{ action: "show", workflowId: shown.repair, isFollowed: true }]),
    ].join("\n"),
  );
};
