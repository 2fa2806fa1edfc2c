import type { Fault } from "@durable-payments/api-core";
import { paymentMemoOf, runDetails, summaryOfInput } from "@durable-payments/protocol";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { checkName, checkOptions } from "../acting.ts";
import { changing } from "../connection/changing.ts";
import { expectKeys } from "../connection/expect-keys.ts";
import { type JournalSettings, withJournalOrNot } from "../connection/journal.ts";
import type { Temporal } from "../connection/temporal.ts";
import { accountOfWorkers } from "../connection/trackers.ts";
import { checkAccountIsKnown } from "../connection/workers.ts";
import { InvalidInput, NotFound, Refused } from "../errors.ts";
import { readAmendedInput } from "../history/read-execution-history.ts";
import { masked } from "../history/masked.ts";
import { readInput } from "../history/read-input.ts";
import { differingFields, valueAt } from "../input/differing-fields.ts";
import { checkId, type PlannedRun } from "../input/planned-run.ts";
import { findForgottenRun, type ForgottenRun } from "./forgotten.ts";
import { describeRun, type RunState, stateOf } from "../runs/state.ts";

/** A run that was started just now, or that exists under its id. */
export type SubmittedRun = RunState & {
  /** Whether this call has started it. */
  readonly isNew: boolean;
  /** Set where the run that exists was started with other `options`: how it waits, and for whom. */
  readonly optionsDiffer?: true;
  /** Set where people have amended the input of the run that exists. */
  readonly amended?: AmendedRun;
};

/** An amendment of the run that exists, beside what was given here. */
export interface AmendedRun {
  /** Whether what was given here is what the run was started with, or what it sends since it was amended. */
  readonly given: "before" | "now";
  /** The fields in which the two differ. */
  readonly fields: ReadonlyArray<string>;
  /** What it does as it was amended, for a person. */
  readonly about?: string;
}

/** Who starts a run, and what was sent under its id before Temporal's memory begins. */
export interface StartOptions {
  /** Who starts it, and so cannot approve what it pays. */
  readonly startedBy: string;
  /** The journal of the account that pays: an id that it knows, and Temporal has forgotten, is not started anew. */
  readonly journal: JournalSettings;
}

/** What may be shown of two inputs: all else may identify a person or an account. */
const SHOWN: ReadonlySet<string> = new Set([
  "payout.amount",
  "payout.currency",
  "card.card_limit",
  "beneficiary_id",
  "card_holder_id",
]);

/** What a run was started with, what it sends since people have amended that, and what was given here. */
interface Inputs {
  readonly startedWith: unknown;
  readonly now: unknown;
  readonly given: unknown;
}

const differenceAt = (field: string, { given, now, startedWith }: Inputs): Fault => {
  const [before = "left out", since = "left out", here = "left out"] = [
    startedWith,
    now,
    given,
  ].map((input) => {
    const value = valueAt(input, field);
    return typeof value === "string" ? value : undefined;
  });
  if (!SHOWN.has(field)) return { field, problem: "differs" };
  const there =
    before === since
      ? `is ${before} in that run`
      : `was ${before} in that run, is ${since} since it was amended`;
  return { field, problem: masked(`${there}, and ${here} here`) };
};

/** The fields in which inputs differ, beside how the run waits, and for whom. */
const differingContent = (one: unknown, other: unknown): ReadonlyArray<string> =>
  differingFields(one, other).filter((field) => field.split(".")[0] !== "options");

/** The amendment of a run, where what was given here is its input of before or of since. */
const amendmentOf = (workflowType: string, inputs: Inputs): AmendedRun | undefined => {
  const { given, now, startedWith } = inputs;
  const fields = differingContent(startedWith, now);
  if (fields.length === 0) return undefined;
  const about = masked(summaryOfInput(workflowType, now));
  return {
    given: differingContent(now, given).length === 0 ? "now" : "before",
    fields,
    ...(about !== undefined && { about }),
  };
};

const otherInput = (workflowId: string, workflowType: string, inputs: Inputs): InvalidInput => {
  const { given, now, startedWith } = inputs;
  const about = masked(summaryOfInput(workflowType, startedWith));
  const since =
    differingContent(startedWith, now).length === 0
      ? undefined
      : masked(summaryOfInput(workflowType, now));
  const abouts = [about, ...(since === undefined ? [] : [`amended since to: ${since}`])];
  const shown = abouts.filter((text) => text !== undefined).join("; ");
  return new InvalidInput({
    message: `The id ${workflowId} belongs to a run that was started with another input${shown === "" ? "" : ` (${shown})`}. Nothing was started: what was given here is not carried out by that run. Where it is another payment or person, give another id.`,
    faults: differingContent(now, given).map((field) => differenceAt(field, inputs)),
    next: { operation: "describe", workflowId },
  });
};

const findRun = async (
  temporal: Temporal,
  workflowId: string,
  planned: PlannedRun,
): Promise<SubmittedRun> => {
  const description = await describeRun(temporal, workflowId);
  const { workflowType } = planned;
  if (description.type !== workflowType) {
    throw new Refused({
      message: `The id ${workflowId} belongs to a run of ${description.type}, not of ${workflowType}: give another id. Nothing was started.`,
    });
  }
  const firstRunId = description.raw.workflowExecutionInfo?.firstRunId || description.runId;
  const startedWith = await readInput(temporal, { workflowId, runId: firstRunId });
  const found = { ...(await stateOf(temporal, description)), isNew: false };
  if (startedWith === undefined) return found;
  const now = await readAmendedInput(temporal, description);
  const inputs = { startedWith, now, given: planned.input };
  const isOneOfThem = [startedWith, now].some(
    (input) => differingContent(input, planned.input).length === 0,
  );
  if (!isOneOfThem) throw otherInput(workflowId, workflowType, inputs);
  const amended = amendmentOf(workflowType, inputs);
  const hasOtherOptions = differingFields(startedWith, planned.input).some(
    (field) => field.split(".")[0] === "options",
  );
  return {
    ...found,
    ...(hasOtherOptions && { optionsDiffer: true }),
    ...(amended !== undefined && { amended }),
  };
};

/**
 * Start a run, unless there is one of that id, running or ended: then report that one. It can be called
 * again after any failure: an id never pays twice. Visibility need not answer: the run then asks its first
 * worker for the account.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId the business key, as `checkId` takes it.
 * @param planned what `planPayout` or `planOnboarding` returns.
 * @param options who starts it, and which journal is asked about its id; where that cannot be read here, the
 *   worker asks it before it sends anything.
 * @returns the run; `isNew` where this call has started it; `amended` where people have amended what it sends. Of a run whose retention is over, what the journal
 *   has of it (`state: "forgotten"`): nothing was started.
 * @throws InvalidInput where the id is none, or `startedBy` names nobody, or the run that exists was started
 *   with another input than this one, `options` left out, and was not amended to this one either: `faults` names
 *   the fields; Refused where the id belongs to a run of another workflow, or it is not known any more how it was
 *   amended; NotFound where the run was deleted meanwhile.
 * @example
 * const planned = planPayout(input, defaultAssumptions);
 * const run = await startRun(temporal, "invoice-2026-001", planned, { startedBy: "Ada", journal });
 */
export const startRun = async (
  temporal: Temporal,
  workflowId: string,
  planned: PlannedRun,
  options: StartOptions,
): Promise<SubmittedRun | ForgottenRun> => {
  const { journal: settings, startedBy } = checkOptions(options);
  checkId(workflowId);
  checkName(startedBy, "startedBy");
  const forgotten = await withJournalOrNot(
    checkOptions(settings),
    async ({ journal }) => journal && (await findForgottenRun(temporal, workflowId, journal)),
  );
  return forgotten ?? (await startOrFind(temporal, workflowId, planned, startedBy));
};

const startOrFind = async (
  temporal: Temporal,
  workflowId: string,
  planned: PlannedRun,
  startedBy: string,
): Promise<SubmittedRun> => {
  const { client, settings } = temporal;
  try {
    await checkAccountIsKnown(temporal, planned.account);
  } catch (error) {
    // The run of that id may be older than the account is gone.
    return await findRun(temporal, workflowId, planned).catch((missing: unknown) => {
      throw missing instanceof NotFound ? error : missing;
    });
  }
  const account = await accountOfWorkers(temporal, planned.account);
  const payment = paymentMemoOf(planned.workflowType, planned.input);
  await expectKeys(temporal);
  const about = {
    mayBe: `The run ${workflowId} may have been started`,
    next: { operation: "describe", workflowId },
  } as const;
  try {
    const { firstExecutionRunId } = await changing(temporal, about, () =>
      client.workflow.start(planned.workflowType, {
        workflowId,
        taskQueue: settings.taskQueue,
        args: [planned.input],
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
        // The workflow lets nobody approve a payment that they started.
        memo: { startedBy, ...(payment && { payment }) },
        staticSummary: planned.summary,
        staticDetails: runDetails(workflowId),
        typedSearchAttributes: [...planned.searchAttributes(workflowId, account)],
      }),
    );
    return { workflowId, runId: firstExecutionRunId, state: "running", isNew: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return await findRun(temporal, workflowId, planned);
  }
};
