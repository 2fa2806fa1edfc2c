import { lookUp } from "@durable-payments/client/values";
import type { Payments, PreviewedGroup, RetryPreview } from "@durable-payments/control/payments";
import type { RetryFlags } from "../commands/flag-sets.ts";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { progressOf } from "../output/progress.ts";
import { counted, pairs, styled, totals } from "../output/text.ts";
import { readPatch, selected } from "./retrying.ts";

/** Examples of a group; the answer in JSON has all. */
const SHOWN = 5;

/** Words what would happen, by outcome: `3 runs would complete`. */
const WORDS: Readonly<Record<PreviewedGroup["outcome"], string>> = {
  completes: "would complete",
  approval: "would wait for an approval",
  asks: "would ask a person",
  waits: "would still wait",
  ownActivity: "would run an activity of your own: a preview ends there",
  unknown: "would first read the service: the outcome of a request is unknown",
  fails: "would fail again",
  differs: "would not replay: the code differs from the history",
  refused: "cannot be retried",
  unfinished: "not previewed: nothing happened for some minutes",
};

const groupText = (
  { money, outcome, step, type, why, workflowIds, writes }: PreviewedGroup,
  runs: RetryPreview["runs"],
): ReadonlyArray<string> => {
  const { length } = workflowIds;
  const sent = Object.entries(writes).map(([name, count]) => `${count} × ${name}`);
  const sums = money.length === 0 ? "" : `: ${totals(money)}`;
  const { lines = [] } = runs.find(({ workflowId }) => workflowId === workflowIds[0]) ?? {};
  const [line] = lines;
  const ids = [
    ...workflowIds.slice(0, SHOWN),
    ...(length > SHOWN ? [`and ${length - SHOWN} more`] : []),
  ];
  return [
    "",
    styled("bold", `${counted(length, "run")} ${WORDS[outcome]}`),
    pairs([
      ["runs", ids.join(", ")],
      ["type", type],
      ["at", step],
      ["why", why],
      ["code", line && `${line.file}:${line.line}`],
      ["sends", sent.length > 0 && `${sent.join(", ")}${sums}`],
    ]),
  ];
};

/** Words a preview of retries. */
export const previewText = ({ groups, runs }: RetryPreview): string =>
  [
    runs.length === 0 ? "No failed run." : `${counted(runs.length, "run")} previewed.`,
    ...groups.flatMap((group) => groupText(group, runs)),
    "",
    "Nothing was sent, and nothing was changed.",
  ].join("\n");

type Chosen = Parameters<Payments["upkeep"]["previewRetries"]>[0];

/** A preview needs no name: it changes nothing. */
const ACTING = { by: "preview", reason: "preview" } as const;

const oneOf = async ({
  amend,
  from,
  id: workflowId,
  isOverruling,
  isRestarted,
  notDuplicate,
}: RetryFlags): Promise<Chosen[number]> => {
  if (workflowId === undefined) throw badUsage("Which run? Give its ID, or --all-failed.");
  const patch = amend === undefined ? undefined : await readPatch(amend);
  return { workflowId, amend: patch, from, isOverruling, isRestarted, notDuplicate };
};

/** The runs that the repair of the same flags would have, and those that it would leave out. */
const chosenOf = async (payments: Payments, flags: RetryFlags): Promise<Chosen> => {
  const { amendments, filter } = await selected(payments, flags);
  const { amend, amendEach } = amendments;
  const { from, notDuplicate } = flags;
  const plan = await payments.planRepair(filter, { ...ACTING, ...amendments, from, notDuplicate });
  return [
    ...plan.retries.map(({ workflowId }) => ({
      workflowId,
      from,
      notDuplicate,
      amend: amendEach === undefined ? amend : lookUp(amendEach, workflowId),
    })),
    ...plan.notHelped,
  ];
};

/**
 * Previews the retries that the same flags would make, with the workflows of another folder.
 *
 * @returns the exit code: 1 unless every run would complete.
 */
export const previewRetry = async (
  output: Output,
  payments: Payments,
  flags: RetryFlags,
  against: string,
) => {
  const say = progressOf(output, "Nothing was sent, and nothing was changed.");
  const chosen = flags.isAll ? await chosenOf(payments, flags) : [await oneOf(flags)];
  const preview = await payments.upkeep.previewRetries(chosen, {
    against,
    onPart: (known, all) => say(`${known} of ${counted(all, "run")} previewed`),
  });
  output.answer(preview, previewText);
  return preview.runs.every(({ outcome }) => outcome === "completes")
    ? EXIT_CODES.done
    : EXIT_CODES.runFailed;
};
