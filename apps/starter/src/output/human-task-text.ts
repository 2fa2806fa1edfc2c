import { settleCommands, settlementConsequences, utc } from "@durable-payments/protocol";
import type { RunInDoubt, WaitingRun } from "@durable-payments/operations/decisions";
import { argumentsOf, earlierRun, shownWithNext, withNext } from "./next-operation.ts";
import { styled } from "./styled.ts";
import { paymentText } from "./payment-text.ts";
import { approvalLines, attentionLines, decideLines } from "./progress-lines.ts";
import { columns, wrap } from "./text.ts";

const humanTaskLines = (run: WaitingRun): Array<string> => {
  const { approval, attention, noProgress, payment } = run;
  if (attention !== null) {
    const moves = payment === null ? [] : [wrap(`It moves ${paymentText(payment)}.`, "  ")];
    return [...moves, ...attentionLines(run, attention)];
  }
  return approval === undefined
    ? [wrap(noProgress ? shownWithNext(noProgress) : "It was answered meanwhile.", "  ")]
    : approvalLines(run, approval);
};

const runText = (run: WaitingRun): string =>
  [
    `${styled("bold", run.workflowId)} (${run.type}), started ${utc(run.startedAt)}`,
    ...humanTaskLines(run),
  ].join("\n");

/** The runs that wait for a person, as a person reads them. */
export const waitingRunsText = (runs: ReadonlyArray<WaitingRun>): string =>
  runs.length === 0 ? "No run waits for a person." : runs.map(runText).join("\n\n");

/** A run that waits for a person, as a program reads it. */
export const waitingRunAnswer = ({ noProgress, ...run }: WaitingRun) => ({
  ...run,
  ...(noProgress && { noProgress: withNext(noProgress) }),
});

type StepInDoubt = RunInDoubt["inDoubt"][number];

const idsText = (ids: Readonly<Record<string, string>>): string =>
  Object.entries(ids)
    .map(([name, id]) => `${name} ${id}`)
    .join(", ");

/** Whether it was carried out, as far as the run's history or the journal knows. */
const standingText = ({ ids, journal }: StepInDoubt): string => {
  if (ids !== undefined) return "was carried out";
  switch (journal?.outcome) {
    case "carriedOut":
      return `was carried out, made: ${idsText(journal.ids)} (by the journal)`;
    case "notCarriedOut":
      return "was not carried out (by the journal)";
    case "undone":
      return "was carried out, and undone since (by the journal)";
    case "noAnswer":
      return "may have been carried out (the journal has no answer either)";
    case "notRecorded":
      return "may have been carried out (the journal that is set here has no record of it)";
    default:
      return "may have been carried out";
  }
};

const madeOf = ({ ids, journal }: StepInDoubt) =>
  journal?.outcome === "carriedOut" ? journal.ids : ids;

/** What is known of each step in doubt, by which it is settled: of one that has sent several things at once. */
const knownSteps = (inDoubt: ReadonlyArray<StepInDoubt>) =>
  [...Map.groupBy(inDoubt, ({ step }) => step)].map(([step, sends]) => ({
    step,
    operation: sends[0]?.operation ?? "",
    made: sends.map(madeOf).find((made) => made !== undefined),
    isNotMade: sends.every(({ journal }) => journal?.outcome === "notCarriedOut"),
  }));

/** What is known of all of it together, before something is done. */
const adviceText = (inDoubt: ReadonlyArray<StepInDoubt>): string => {
  if (inDoubt.every((each) => madeOf(each) !== undefined))
    return "Each was paid or made: do not pay it again. Then:";
  return knownSteps(inDoubt).every(({ isNotMade }) => isNotMade)
    ? "None was paid or made, as the journal has it. Then:"
    : "Each may have been paid. Check it with the service before anything is paid again. Then:";
};

const stepText = (inDoubt: StepInDoubt): string => {
  const { amount, beneficiary_id, currency = "", ids, key, operation, payee, step } = inDoubt;
  const { candidates = [], payout_reference: reference } = inDoubt;
  const about = wrap(
    [
      `! ${step}: ${operation} ${standingText(inDoubt)}`,
      ...Object.entries(ids ?? {}).map(([name, id]) => `${name} ${id}`),
      ...(amount === undefined ? [] : [`${amount} ${currency}`.trim()]),
      ...(payee === undefined ? [] : [`to ${payee}`]),
      ...(beneficiary_id === undefined ? [] : [`beneficiary_id ${beneficiary_id}`]),
      ...(reference === undefined ? [] : [`reference ${JSON.stringify(reference)}`]),
      ...(key === undefined ? [] : [`key ${key}`]),
    ].join(", "),
    "  ",
  );
  return [
    about,
    ...candidates.flatMap((candidate, index) => [
      `    What may be it (${index + 1} of ${candidates.length}):`,
      columns(Object.entries(candidate), "      "),
    ]),
  ].join("\n");
};

/** Why the journal was not asked, once. */
const notReadLines = (inDoubt: ReadonlyArray<StepInDoubt>): ReadonlyArray<string> => {
  const reasons = inDoubt.flatMap(({ journal }) =>
    journal?.outcome === "notRead" ? [journal.why] : [],
  );
  return [...new Set(reasons)].map((why) =>
    wrap(`The journal of sends, which may know it, was not asked: ${why}.`, "  "),
  );
};

/** What is in doubt of an ended run, as a person reads it, with what to do. */
export const inDoubtLines = ({
  inDoubt,
  retry,
  runId,
  workflowId,
}: Pick<RunInDoubt, "inDoubt" | "retry" | "runId" | "workflowId">): ReadonlyArray<string> => [
  ...inDoubt.map(stepText),
  ...notReadLines(inDoubt),
  wrap(adviceText(inDoubt), "  "),
  ...decideLines([
    ...settleCommands({ runId, workflowId, isRetried: retry !== undefined }, knownSteps(inDoubt)),
    ...(retry === undefined
      ? []
      : [{ args: argumentsOf(retry), consequence: settlementConsequences.retry }]),
  ]),
];

/** The ended runs in doubt, as a person reads them. */
export const inDoubtText = (runs: ReadonlyArray<RunInDoubt>): string =>
  runs
    .map((run) => {
      const { closedAt, type, unread, workflowId } = run;
      return [
        `${styled("bold", workflowId)} (${type}), ended in doubt${closedAt === null ? "" : ` ${utc(closedAt)}`}`,
        ...(run.isEarlier === true ? [wrap(shownWithNext(earlierRun(run)), "  ")] : []),
        ...(unread === undefined
          ? inDoubtLines(run)
          : [wrap(`! It cannot be read, so check what it paid with the service: ${unread}`, "  ")]),
      ].join("\n");
    })
    .join("\n\n");

/** An ended run in doubt, as a program reads it: with the arguments of the command that retries it. */
export const inDoubtAnswer = ({ retry, ...run }: RunInDoubt) => ({
  ...run,
  ...(retry && { retry: argumentsOf(retry) }),
});
