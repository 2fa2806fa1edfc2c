import { MAY_BE_SENT_AFTER_END_MS } from "@durable-payments/activities/send-intent";
import {
  namesSomebody,
  ownershipKeys,
  PAYMENT_IDS,
  queryText,
  sendingOf,
  stepKinds,
  textAt,
} from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import { checkActing, checkOptions } from "../acting.ts";
import type { Temporal } from "../connection/temporal.ts";
import type { ServiceSettings } from "../connection/settings.ts";
import { invalidInput, refused } from "../errors.ts";
import { readExecutionHistory } from "../history/execution-history.ts";
import { unsettledSteps } from "../history/in-doubt.ts";
import { isAmong } from "../history/sends.ts";
import { checkFoundPayout } from "./check-found.ts";
import { keepSettlement } from "../history/settlement.ts";
import { describeExpected, isUnderWay } from "../runs/state.ts";

/**
 * The steps that a person has settled, and may correct: not those of which the run knows by itself by now what
 * became of them, since it has completed or has taken over what was found.
 */
const settledSteps = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<ReadonlyArray<StepInDoubt>> => {
  if (run.status.name === "COMPLETED") return [];
  const { sends, settlements } = await readExecutionHistory(temporal, run);
  const owned = new Set(run.typedSearchAttributes.get(PAYMENT_IDS));
  return [...new Set(settlements.map(({ step }) => step))].flatMap((step) => {
    const send = sends.get(step);
    const isTaken = send?.sent.outcome === "known" && isAmong(owned, send.kind, send.sent.id);
    return isTaken ? [] : [{ step, operation: send?.kind.operation ?? "unknown" }];
  });
};

/** The run, other than this one, that owns something, if one does. */
const ownerOf = async (
  { client }: Temporal,
  owned: string,
  workflowId: string,
): Promise<string | undefined> => {
  const query = `${PAYMENT_IDS.name} = ${queryText(owned)} AND WorkflowId != ${queryText(workflowId)}`;
  for await (const owner of client.workflow.list({ query })) return owner.workflowId;
  return undefined;
};

const isId = (id: unknown): boolean =>
  namesSomebody(id) && id.trim() === id && !/[\p{Cc}\p{Cs}]/u.test(id);

/** Check ids before anything is asked: a blank one would settle a step for something that nobody made. */
const checkFound = (found: SettleOptions["found"]): void => {
  if (found === undefined || (Object.keys(found).length > 0 && Object.values(found).every(isId))) {
    return;
  }
  throw invalidInput(
    "What was found (found) must give ids that are not empty, without blanks around them or control characters. Nothing was done.",
  );
};

/**
 * Ask the service about what a person says that a step made.
 *
 * @returns why it has not confirmed it, where it has not.
 * @throws Refused where it contradicts that.
 */
const whyNotConfirmed = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
  { operation, step }: StepInDoubt,
  { payout_id }: Readonly<Record<string, string>>,
  services: ReadonlyArray<ServiceSettings>,
): Promise<string | undefined> => {
  if (operation !== stepKinds.createPayout.sends.operation || payout_id === undefined) {
    return `what ${operation} makes is not looked up here`;
  }
  const executed = await readExecutionHistory(temporal, run);
  const checked = await checkFoundPayout(services, payout_id, executed, executed.sends.get(step));
  return checked.isConfirmed ? undefined : checked.why;
};

/** What a person found out about a run in doubt. */
export interface SettleOptions {
  readonly by: string;
  readonly reason: string;
  /** The step; may be left out where one is in doubt. */
  readonly step: string | undefined;
  /** What it made, by id; undefined where it was not carried out. */
  readonly found: Readonly<Record<string, string>> | undefined;
  /**
   * Address and credentials of the service, by which a payout is checked, of each account that is known here; or why
   * they are not.
   */
  readonly services?: ReadonlyArray<ServiceSettings> | undefined;
  /** The run that was in doubt when they looked: where it is not the latest any more it is refused. */
  readonly expectedRunId?: string | undefined;
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
  /** Why the service has not confirmed what was found, where it has not. */
  readonly notConfirmed?: string;
}

/**
 * Record what a person found out about what an ended run has sent. It settles the doubt for every later
 * retry, reset and batch.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run; the latest of that id is settled.
 * @param options who found it out and why, and what: ids that the service made, or, without `found`, that
 *   it was not carried out.
 * @returns the step that is settled.
 * @throws NotFound where there is no such run; InvalidInput where the step is not named, or no id that it
 *   makes is given; Refused where the run goes on or is not the expected one, nothing of it is in doubt, another
 *   run owns the id, or the service knows no such payout, or shows it as another than was sent.
 * @example
 * const found = { payout_id };
 * const seen = { by: "Ada", reason: "it is in the portal", step: undefined, found, services: [service] };
 * await settle(temporal, "invoice-2026-004", seen);
 */
export const settle = async (
  temporal: Temporal,
  workflowId: string,
  options: SettleOptions,
): Promise<Settled> => {
  const { by, expectedRunId, found, reason, services = [], step } = checkOptions(options);
  checkActing({ by, reason });
  checkFound(found);
  const run = await describeExpected(temporal, workflowId, expectedRunId);
  if (isUnderWay(run)) {
    throw refused(
      `The run ${workflowId} is under way: it reconciles its own sends, and asks where it needs a person. Nothing was done.`,
      {
        operation: "describe",
        workflowId,
      },
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
    throw refused(
      `Nothing of the run ${workflowId} is in doubt: it knows what became of what it sent. Nothing was done.`,
      { operation: "describe", workflowId },
    );
  }
  const wanted = inDoubt.filter((each) => step === undefined || each.step === step);
  const [settled, ...more] = wanted;
  if (settled === undefined || more.length > 0) {
    throw invalidInput(`Say which step of ${workflowId} (step): ${names}. Nothing was done.`);
  }
  const idWanted = sendingOf(settled.operation)?.idField;
  if (found !== undefined && idWanted !== undefined && textAt(found, idWanted) === undefined) {
    throw invalidInput(`What was found must give ${idWanted}. Nothing was done.`);
  }
  for (const [name, id] of Object.entries(found ?? {})) {
    // Beside what was made a person may name what it was made for: that may well be of another run.
    if (idWanted !== undefined && name !== idWanted) continue;
    for (const owned of ownershipKeys({ [name]: id })) {
      const owner = await ownerOf(temporal, owned, workflowId);
      if (owner !== undefined) {
        throw refused(
          `${id} belongs to ${owner}: it is not what ${workflowId} sent. Nothing was done.`,
        );
      }
    }
  }
  const notConfirmed =
    found === undefined
      ? undefined
      : await whyNotConfirmed(temporal, run, settled, found, services);
  await keepSettlement(temporal, run, { step: settled.step, by, reason, ...(found && { found }) });
  const mayBeSentUntil = (run.closeTime?.getTime() ?? 0) + MAY_BE_SENT_AFTER_END_MS;
  return {
    runId: run.runId,
    step: settled.step,
    ...(notConfirmed !== undefined && { notConfirmed }),
    ...(found === undefined &&
      Date.now() < mayBeSentUntil && { mayBeSentUntil: new Date(mayBeSentUntil).toISOString() }),
  };
};
