import type { NextAction } from "@durable-payments/control/errors";
import type { RepairPlan } from "@durable-payments/control/payments";
import type { FailureGroup } from "@durable-payments/ledger";
import {
  ago,
  counted,
  joined,
  money,
  payeeText,
  section,
  styled,
  totals,
  when,
  wrap,
} from "./text.ts";
import { nextLines } from "./next.ts";

/** Runs that a text names; JSON has all of them. */
const MOST_NAMED = 20;

/** Prints groups of failed runs. */
export const failedText = (
  { groups }: { readonly groups: ReadonlyArray<FailureGroup> },
  next: ReadonlyArray<NextAction> = [],
  now = Date.now(),
): string => {
  const [first] = groups;
  if (first === undefined) return "No failed run.";
  const lines = groups.flatMap((of) => {
    const { error, examples, group, last, message, runs, step, sums, type } = of;
    const times =
      of.first === null || last === null
        ? ""
        : `${when(of.first)} to ${when(last)}, ${ago(last, now)}`;
    return [
      [styled("bold", group), counted(runs, "run"), totals(sums)].filter(Boolean).join("  "),
      wrap(joined([type, step, error], ", "), "  "),
      ...(message === null ? [] : [wrap(message, "  ")]),
      wrap(joined([times, examples.join(", ")], "; "), "  "),
      "",
    ];
  });
  const ofFirst = next.map((one) => ({ ...one, group: first.group, isDryRun: true }));
  return [...lines.slice(0, -1), ...nextLines(ofFirst)].join("\n");
};

const WAYS: Readonly<Record<RepairPlan["retries"][number]["way"], string>> = {
  start: "start again",
  reset: "continue",
  look: "check again",
};

/** Names the first of some runs, and how many there are more. */
const named = (title: string, rows: ReadonlyArray<readonly [string, string]>) => [
  ...section(title, rows.slice(0, MOST_NAMED)),
  ...(rows.length > MOST_NAMED ? [`  … and ${rows.length - MOST_NAMED} more; --json has all`] : []),
];

/** Groups runs that no retry can help by the reason. A reason may begin with the id of its run, or have it in the middle. */
const reasonsOf = (
  notHelped: RepairPlan["notHelped"],
): ReadonlyArray<readonly [string, string]> => {
  const groups = Map.groupBy(notHelped, ({ whyNot, workflowId }) =>
    whyNot.replaceAll(workflowId, "each").replace(/^each/, "Each"),
  );
  return [...groups].map(([reason, of]) => {
    const [{ whyNot, workflowId } = { whyNot: "", workflowId: "" }] = of;
    if (of.length === 1) return [workflowId, whyNot];
    const more = of.length > 3 ? ` and ${of.length - 3} more` : "";
    const ids = of.slice(0, 3).map((one) => one.workflowId);
    return [counted(of.length, "run"), `${reason} Runs: ${ids.join(", ")}${more}`];
  });
};

const HAS_MORE =
  "A repair takes at most 10,000 runs, and more match. Choose fewer by --since, --step, --group or --batch, or repeat the command once it has finished.";

/** Prints what a repair would do with each run, which it cannot help and why, and the sums. */
export const repairPlanText = (plan: RepairPlan): string => {
  const { hasMore, needsApproval, notHelped, retries, sums } = plan;
  return [
    `${counted(retries.length, "failed run")} can be retried${sums.length === 0 ? "" : `: ${totals(sums)}`}. ${counted(notHelped.length, "run")} cannot.`,
    ...named(
      "Can be retried",
      retries.map(({ again, amended, from, kept, way, workflowId, ...of }) => [
        workflowId,
        joined(
          [
            joined([money(of), payeeText(of)], " to "),
            from === undefined ? WAYS[way] : `continue from ${from}`,
            kept.length === 0 ? "" : `keeps ${kept.join(", ")}`,
            again.length === 0 ? "" : `runs ${again.join(", ")}`,
            amended.join("; "),
          ],
          "; ",
        ),
      ]),
    ),
    ...named("Cannot be retried", reasonsOf(notHelped)),
    ...(hasMore ? [wrap(HAS_MORE)] : []),
    ...(needsApproval ? ["A second person has to approve the sum of the amended payments."] : []),
  ].join("\n");
};
