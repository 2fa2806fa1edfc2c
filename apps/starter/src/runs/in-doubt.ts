import { MAY_BE_SENT_AFTER_END_MS } from "@durable-payments/activities/send-intent";
import {
  ownershipKeys,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  queryText,
  sendingOf,
} from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import type { WorkflowExecutionDescription, WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import type { Temporal } from "../connection/temporal.ts";
import { badInput, StarterError } from "../errors.ts";
import { textAt } from "../input/fields.ts";
import { commandLine } from "../output/command-line.ts";
import { styled } from "../output/output.ts";
import { time, wrap } from "../output/text.ts";
import { standing } from "./retry/ended-by-person.ts";
import { type Past, type PastSend, readPast } from "./retry/past.ts";
import { describeRun } from "./run-state.ts";
import { keepSettlement, readSettlement } from "./settlement.ts";

/** A run that has ended while nobody knows what became of what some of its steps have sent. */
export interface RunInDoubt {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly inDoubt: ReadonlyArray<StepInDoubt>;
  /** The arguments of the command by which it is retried; left out where it cannot be. */
  readonly retry?: ReadonlyArray<string>;
}

const inDoubtOf = (step: string, { ids = {}, kind, lastInput, sent }: PastSend): StepInDoubt => {
  const key = textAt(lastInput, "unique_request_id");
  const card_limit = textAt(lastInput, "card_limit");
  const amount = card_limit ?? textAt(lastInput, "amount");
  const currency = card_limit === undefined ? textAt(lastInput, "currency") : "USD";
  const made = sent.outcome === "known" ? { [kind.idField]: sent.id } : ids;
  return {
    step,
    operation: kind.operation,
    ...(key !== undefined && { key }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(Object.keys(made).length > 0 && { ids: made }),
  };
};

const othersInDoubt = (
  step: string,
  { kind, others = [] }: PastSend,
): ReadonlyArray<StepInDoubt & { readonly isLeft: boolean }> =>
  others.map((other) => ({ step, operation: kind.operation, ...other }));

const withoutMark = ({
  isLeft: _,
  ...inDoubt
}: StepInDoubt & { readonly isLeft: boolean }): StepInDoubt => inDoubt;

/**
 * The sends of a run with an unknown outcome, as all histories of its id tell: what was really sent,
 * where that is another request than the one that the run meant to send.
 */
export const stepsInDoubt = ({ sends }: Past): ReadonlyArray<StepInDoubt> =>
  [...sends].flatMap(([step, send]) =>
    send.sent.outcome === "unknown"
      ? [
          ...othersInDoubt(step, send).map(withoutMark),
          ...(send.isLastInDoubt === false ? [] : [inDoubtOf(step, send)]),
        ]
      : [],
  );

/** What was sent before, and a person had something else sent beside, whose outcome is known. */
export const leftInDoubt = ({ sends }: Past): ReadonlyArray<StepInDoubt> =>
  [...sends].flatMap(([step, send]) =>
    send.sent.outcome === "unknown"
      ? []
      : othersInDoubt(step, send)
          .filter(({ isLeft }) => isLeft)
          .map(withoutMark),
  );

/**
 * What a run made that was terminated before it took the answer: its history alone knows it.
 *
 * @param ids that the run owned at last.
 */
export const untakenSteps = (
  { sends }: Past,
  ids: ReadonlyArray<string>,
): ReadonlyArray<StepInDoubt> =>
  [...sends].flatMap(([step, send]) =>
    send.sent.outcome === "known" && !ids.includes(send.sent.id) ? [inDoubtOf(step, send)] : [],
  );

/** Those of the steps of a run that no person has settled. */
const withoutSettlement = async <Step extends Pick<StepInDoubt, "step">>(
  temporal: Temporal,
  { runId }: WorkflowExecutionDescription,
  steps: ReadonlyArray<Step>,
): Promise<ReadonlyArray<Step>> => {
  const settlements = await Promise.all(
    steps.map(({ step }) => readSettlement(temporal, runId, step)),
  );
  return steps.filter((_, index) => settlements[index] === undefined);
};

/** What the run itself says to be in doubt; a run that was terminated could not say more. */
const namedBy = ({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyArray<string> =>
  (typedSearchAttributes.get(PAYMENT_IN_DOUBT) ?? "").split(" ").filter((name) => name !== "");

/**
 * The steps of an ended run that are in doubt still: named by the run, unknown by its history or to the
 * run itself, and not settled by a person. What was turned away for certain when the run was terminated is none of them.
 */
export const unsettledSteps = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<ReadonlyArray<StepInDoubt>> => {
  const named = namedBy(run);
  if (named.length === 0) return [];
  try {
    const past = await readPast(temporal, run);
    const untaken = untakenSteps(past, run.typedSearchAttributes.get(PAYMENT_IDS) ?? []);
    const isNamed = ({ step }: StepInDoubt) => named.includes(step);
    return [
      ...stepsInDoubt(past).filter(isNamed),
      ...(await withoutSettlement(
        temporal,
        run,
        [...untaken, ...leftInDoubt(past)].filter(isNamed),
      )),
    ];
  } catch (error) {
    // Where the history of an earlier run is gone only this run's own word is left.
    if (!(error instanceof StarterError)) throw error;
    const steps = named.map((step) => ({ step, operation: "unknown" }));
    return withoutSettlement(temporal, run, steps);
  }
};

const ENDED_IN_DOUBT = `${PAYMENT_IN_DOUBT.name} IS NOT NULL AND ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"`;

const ASKED_AT_ONCE = 8;

/** The command that retries a run: where a person has ended it, only one that overrules that. */
export const retryCommand = (
  workflowId: string,
  decisions: Past["decisions"],
): ReadonlyArray<string> => [
  "runs",
  "retry",
  workflowId,
  ...(standing(decisions).length === 0 ? [] : ["--overrule", "--by", "NAME", "--reason", "WHY"]),
];

/** The command that retries an ended run; undefined where it cannot be retried. */
export const retryOf = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<ReadonlyArray<string> | undefined> => {
  if (run.status.name === "COMPLETED") return undefined;
  try {
    const { decisions } = await readPast(temporal, run);
    return retryCommand(run.workflowId, decisions);
  } catch (error) {
    // Where the history of an earlier run is gone it cannot be retried.
    if (error instanceof StarterError) return undefined;
    throw error;
  }
};

/** The ended runs that are in doubt until a person has settled them, or a retry goes on with them. */
export const listRunsInDoubt = async (temporal: Temporal): Promise<ReadonlyArray<RunInDoubt>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of temporal.client.workflow.list({ query: ENDED_IN_DOUBT })) runs.push(run);
  const found = await Effect.runPromise(
    Effect.forEach(
      runs,
      ({ runId, workflowId }) =>
        Effect.promise(async (): Promise<ReadonlyArray<RunInDoubt>> => {
          const latest = await describeRun(temporal, workflowId);
          if (latest.runId !== runId) return [];
          const inDoubt = await unsettledSteps(temporal, latest);
          if (inDoubt.length === 0) return [];
          const { closeTime, startTime, type } = latest;
          const retry = await retryOf(temporal, latest);
          return [
            {
              workflowId,
              runId,
              type,
              startedAt: startTime.toISOString(),
              closedAt: closeTime?.toISOString() ?? null,
              inDoubt,
              ...(retry !== undefined && { retry }),
            },
          ];
        }),
      { concurrency: ASKED_AT_ONCE },
    ),
  );
  return found.flat();
};

/** The steps that a person has settled, and may correct. */
const settledSteps = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<ReadonlyArray<StepInDoubt>> => {
  const { sends, settlements } = await readPast(temporal, run);
  return [...new Set(settlements.map(({ step }) => step))].map((step) => ({
    step,
    operation: sends.get(step)?.kind.operation ?? "unknown",
  }));
};

/** The run, other than this one, that makes a claim, if one does. */
const ownerOf = async (
  { client }: Temporal,
  claim: string,
  workflowId: string,
): Promise<string | undefined> => {
  const query = `${PAYMENT_IDS.name} = ${queryText(claim)} AND WorkflowId != ${queryText(workflowId)}`;
  for await (const owner of client.workflow.list({ query })) return owner.workflowId;
  return undefined;
};

/** What a person found out about a run in doubt. */
export interface SettleFlags {
  readonly by: string;
  readonly reason: string;
  /** The step; may be left out where one is in doubt. */
  readonly step: string | undefined;
  /** What it made, by id; undefined where it was not carried out. */
  readonly found: Readonly<Record<string, string>> | undefined;
}

/** What is settled. */
export interface Settled {
  readonly runId: string;
  readonly step: string;
  /**
   * ISO 8601: until when a worker that does not know of the end of the run may still send it, or it may
   * be under way. Only where it was said not to be carried out before that.
   */
  readonly mayBeSentUntil?: string;
}

/**
 * Keeps what a person found out about what an ended run has sent.
 *
 * @returns the step that is settled
 * @throws BadInput where nothing of the run is in doubt, or not that step, or another run has the id
 */
export const settle = async (
  temporal: Temporal,
  workflowId: string,
  { by, found, reason, step }: SettleFlags,
): Promise<Settled> => {
  const run = await describeRun(temporal, workflowId);
  if (run.status.name === "RUNNING" || run.status.name === "PAUSED") {
    throw badInput(
      `The run ${workflowId} is under way: ${commandLine("status", workflowId)} says whether it asks. Nothing was done.`,
    );
  }
  const open = await unsettledSteps(temporal, run);
  // Of a step that sent several things all is settled at once.
  const inDoubt = [
    ...new Map(
      (open.length > 0 ? open : await settledSteps(temporal, run)).map((each) => [each.step, each]),
    ).values(),
  ];
  const names = inDoubt.map((each) => each.step).join(", ");
  if (inDoubt.length === 0) {
    throw badInput(`Nothing of the run ${workflowId} is in doubt. Nothing was done.`);
  }
  const wanted = inDoubt.filter((each) => step === undefined || each.step === step);
  const [settled, ...more] = wanted;
  if (settled === undefined || more.length > 0) {
    throw badInput(`Say which step of ${workflowId} by --step: ${names}. Nothing was done.`);
  }
  const idWanted = sendingOf(settled.operation)?.idField;
  if (found !== undefined && idWanted !== undefined && textAt(found, idWanted) === undefined) {
    throw badInput(`--found must give ${idWanted}. Nothing was done.`);
  }
  for (const [name, id] of Object.entries(found ?? {})) {
    // Beside what was made a person may name what it was made for: that may well be of another run.
    if (idWanted !== undefined && name !== idWanted) continue;
    for (const claim of ownershipKeys({ [name]: id })) {
      const owner = await ownerOf(temporal, claim, workflowId);
      if (owner !== undefined) {
        throw badInput(
          `${id} belongs to ${owner}: it is not what ${workflowId} sent. Nothing was done.`,
        );
      }
    }
  }
  await keepSettlement(temporal, run, { step: settled.step, by, reason, ...(found && { found }) });
  const mayBeSentUntil = (run.closeTime?.getTime() ?? 0) + MAY_BE_SENT_AFTER_END_MS;
  return {
    runId: run.runId,
    step: settled.step,
    ...(found === undefined &&
      Date.now() < mayBeSentUntil && { mayBeSentUntil: new Date(mayBeSentUntil).toISOString() }),
  };
};

const stepText = ({ amount, currency = "", ids, key, operation, step }: StepInDoubt): string =>
  wrap(
    [
      `! ${step}: ${operation} ${ids === undefined ? "may have been" : "was"} carried out`,
      ...Object.entries(ids ?? {}).map(([name, id]) => `${name} ${id}`),
      ...(amount === undefined ? [] : [`${amount} ${currency}`.trim()]),
      ...(key === undefined ? [] : [`key ${key}`]),
    ].join(", "),
    "  ",
  );

/** What is in doubt of an ended run, as a person reads it, with what to do. */
export const inDoubtLines = (
  workflowId: string,
  {
    inDoubt,
    retry,
  }: Pick<RunInDoubt, "inDoubt"> & { readonly retry: RunInDoubt["retry"] | undefined },
): ReadonlyArray<string> => [
  ...inDoubt.map(stepText),
  wrap("Look it up with the service before anything is paid again. Then:", "  "),
  ...[
    ["settle", workflowId, "--by", "NAME", "--reason", "WHY", "--found", "NAME=ID"],
    ["settle", workflowId, "--by", "NAME", "--reason", "WHY", "--not-carried-out"],
    ...(retry === undefined ? [] : [retry]),
  ].map((command) => `    ${commandLine(...command)}`),
];

/** The ended runs in doubt, as a person reads them. */
export const inDoubtText = (runs: ReadonlyArray<RunInDoubt>): string =>
  runs
    .map(({ closedAt, inDoubt, retry, type, workflowId }) =>
      [
        `${styled("bold", workflowId)} (${type}), ended in doubt${closedAt === null ? "" : ` ${time(closedAt)}`}`,
        ...inDoubtLines(workflowId, { inDoubt, retry }),
      ].join("\n"),
    )
    .join("\n\n");
