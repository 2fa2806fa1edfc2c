import { MAY_BE_SENT_AFTER_END_MS } from "@durable-payments/activities/send-intent";
import {
  namesSomebody,
  ownershipKeys,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  queryText,
  sendingOf,
  stepKinds,
  textAt,
} from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import { checkActing, checkOptions } from "../acting.ts";
import type { Temporal } from "../connection/temporal.ts";
import type { JournalSettings } from "../connection/journal.ts";
import type { ServiceSettings } from "../connection/settings.ts";
import { invalidInput, NotFound, Refused, refused } from "../errors.ts";
import { Unreadable } from "../history/events.ts";
import { type DoubtedStep, doubtedStep } from "../history/doubted-step.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { openDoubts, unsettledSteps } from "../history/in-doubt.ts";
import { withJournalRecords } from "../history/with-journal-records.ts";
import { isAmong, isNamedIn } from "../history/sends.ts";
import { type NextRetry, readRetryOf } from "../retry/way.ts";
import { checkFoundPayout, checkNotMade } from "./check-found.ts";
import { keepSettlement } from "../history/settlement.ts";
import { describeExpected, describeRun, isUnderWay } from "../runs/state.ts";

/**
 * The steps that a person has settled, and may correct: not those of which the run knows by itself by now what
 * became of them, since it has taken over what was found, or has completed without a doubt about them.
 */
const settledSteps = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<ReadonlyArray<DoubtedStep>> => {
  const executed = await readExecutionHistory(temporal, run);
  const { sends, settlements } = executed;
  const owned = new Set(run.typedSearchAttributes.get(PAYMENT_IDS));
  const named = run.typedSearchAttributes.get(PAYMENT_IN_DOUBT) ?? "";
  return [...new Set(settlements.map(({ step }) => step))].flatMap((step) => {
    const send = sends.get(step);
    if (run.status.name === "COMPLETED" && !isNamedIn(named, step)) return [];
    const isTaken = send?.sent.outcome === "known" && isAmong(owned, send.kind, send.sent.id);
    if (isTaken) return [];
    return send === undefined
      ? [{ step, operation: "unknown" }]
      : [
          ...(send.others ?? []).map((other) => ({
            step,
            operation: send.kind.operation,
            ...other,
          })),
          ...(send.isLastInDoubt === false ? [] : [doubtedStep(step, send, executed)]),
        ];
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

/** @throws Unreadable where a key is missing, for example */
const expectReadable = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<void> => {
  try {
    await readExecutionHistory(temporal, run);
  } catch (error) {
    // A history that is gone never comes back: what people find out is all there is.
    if (error instanceof Unreadable || !(error instanceof Refused)) throw error;
  }
};

/**
 * Ask the service about what a person says that a step made, or did not make.
 *
 * @returns why it has not confirmed it, where it has not.
 * @throws Refused where it contradicts that.
 */
const whyNotConfirmed = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
  doubts: Doubts,
  found: SettleOptions["found"],
  services: ReadonlyArray<ServiceSettings>,
): Promise<string | undefined> => {
  const [{ operation, step }] = doubts;
  const keys = new Set(doubts.flatMap(({ key }) => key ?? []));
  const payout_id = textAt(found, "payout_id");
  if (operation !== stepKinds.createPayout.sends.operation || (found && payout_id === undefined)) {
    // Of a history that cannot be read it is not known what was sent, nor under which key.
    if (operation === "unknown") await expectReadable(temporal, run);
    return `what ${operation} makes is not looked up here`;
  }
  const executed = await readExecutionHistory(temporal, run);
  if (payout_id === undefined) return await checkNotMade(services, keys, executed);
  const checked = await checkFoundPayout(services, payout_id, executed, executed.sends.get(step));
  return checked.isConfirmed ? undefined : checked.why;
};

/** A step that is settled, by all that it has sent and is in doubt. */
type Doubts = readonly [DoubtedStep, ...ReadonlyArray<DoubtedStep>];

const idsText = (ids: Readonly<Record<string, string>>): string =>
  Object.entries(ids)
    .map(([name, id]) => `${name} ${id}`)
    .join(", ");

/** Whether two name the same by some id, and none differs. */
const isSame = (
  ids: Readonly<Record<string, string>>,
  found: Readonly<Record<string, string>>,
): boolean => {
  const both = Object.keys(ids).filter((name) => found[name] !== undefined);
  const keysOf = (name: string, id = "") => ownershipKeys({ [name]: id });
  return (
    both.length > 0 &&
    both.every(
      (name) =>
        ids[name] === found[name] ||
        keysOf(name, ids[name]).some((key) => keysOf(name, found[name]).includes(key)),
    )
  );
};

/**
 * Check that the journal does not contradict what a person says.
 *
 * @param isConfirmed whether the service has confirmed what was found.
 * @returns whether the journal says so, too; or why it was not read.
 * @throws Refused where it contradicts that.
 */
const checkJournal = (
  workflowId: string,
  doubts: Doubts,
  { found, isConfirmed }: { readonly found: SettleOptions["found"]; readonly isConfirmed: boolean },
): { readonly isSure: boolean; readonly why: string | undefined } => {
  const [{ step }] = doubts;
  const records = doubts.flatMap(({ journal }) => journal ?? []);
  const made = records.flatMap((record) => (record.outcome === "carriedOut" ? [record.ids] : []));
  const isNotMade = records.every(({ outcome }) => outcome === "notCarriedOut");
  const next = { operation: "describe", workflowId } as const;
  if (made.length > 0 && !(found && made.some((ids) => isSame(ids, found)))) {
    const other = found === undefined ? "" : `, which is not ${idsText(found)}`;
    throw refused(
      `${step} of ${workflowId} was carried out, as the journal has it: ${made.map(idsText).join("; ")}${other}. Nothing was done.`,
      next,
    );
  }
  if (found !== undefined && isNotMade && !isConfirmed) {
    throw refused(
      `${step} of ${workflowId} was not carried out, as the journal has it, and the service has not confirmed ${idsText(found)}. Nothing was done.`,
      next,
    );
  }
  const unread = records.find((record) => record.outcome === "notRead");
  return { isSure: isNotMade || made.length > 0, why: unread?.why };
};

/** An earlier run of a workflow id, where something of it is in doubt that no later one answers for, or was settled. */
const readEarlier = async (
  temporal: Temporal,
  workflowId: string,
  runId: string | undefined,
): Promise<WorkflowExecutionDescription | undefined> => {
  if (runId === undefined) return undefined;
  try {
    const run = await describeRun(temporal, workflowId, runId);
    if (run.closeTime === undefined) return undefined;
    const { inDoubt, standing } = await openDoubts(temporal, run);
    if (standing !== "earlier") return undefined;
    return inDoubt.length > 0 || (await settledSteps(temporal, run)).length > 0 ? run : undefined;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
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
  /** Where the journal of each account is, by which it is checked what was sent; default: none is read. */
  readonly journals?: ReadonlyArray<JournalSettings> | undefined;
  /**
   * The run that was in doubt when they looked; default: the latest. Where a reset has gone on with it since, or
   * nothing of it is in doubt and it is not the latest, it is refused.
   */
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
  /** Why neither the service nor the journal has confirmed it; left out where one has. */
  readonly notConfirmed?: string;
  /** Why the journal was not read; left out where it was. */
  readonly journalNotRead?: string;
  /** How the run is retried, which goes by it; left out where it cannot be. */
  readonly retry?: NextRetry;
}

/**
 * Record what a person found out about what an ended run has sent. It settles the doubt for every later
 * retry, reset and batch.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run; the latest of that id is settled, or the one that is expected.
 * @param options who found it out and why, and what: ids that the service made, or, without `found`, that
 *   it was not carried out.
 * @returns the step that is settled.
 * @throws NotFound where there is no such run; InvalidInput where the step is not named, or no id that it
 *   makes is given; Refused where the run goes on or is not the expected one, nothing of it is in doubt, another
 *   run owns the id, the journal has it otherwise, or the service knows no such payout, or shows it as another than
 *   was sent, or shows one under the key of what was not carried out.
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
  const {
    by,
    expectedRunId,
    found,
    journals = [],
    reason,
    services = [],
    step,
  } = checkOptions(options);
  checkActing({ by, reason });
  checkFound(found);
  const run =
    (await readEarlier(temporal, workflowId, expectedRunId)) ??
    (await describeExpected(temporal, workflowId, expectedRunId));
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
  const inDoubt = open.length > 0 ? open : await settledSteps(temporal, run);
  const names = [...new Set(inDoubt.map((each) => each.step))];
  if (inDoubt.length === 0) {
    throw refused(
      `Nothing of the run ${workflowId} is in doubt: it knows what became of what it sent. Nothing was done.`,
      { operation: "describe", workflowId },
    );
  }
  const wanted = step ?? (names.length === 1 ? names[0] : undefined);
  // Of a step that sent several things all is settled at once.
  const [settled, ...others] = inDoubt.filter((each) => each.step === wanted);
  if (settled === undefined) {
    throw invalidInput(
      `Say which step of ${workflowId} (step): ${names.join(", ")}. Nothing was done.`,
    );
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
  const doubts: Doubts = [settled, ...others];
  const notConfirmed = await whyNotConfirmed(temporal, run, doubts, found, services);
  const [recorded] = await withJournalRecords(journals, [{ workflowId, inDoubt: doubts }]);
  const journal = checkJournal(workflowId, recorded?.inDoubt ?? doubts, {
    found,
    isConfirmed: notConfirmed === undefined,
  });
  await keepSettlement(temporal, run, { step: settled.step, by, reason, ...(found && { found }) });
  const { runId } = await describeRun(temporal, workflowId);
  // No earlier run is retried: that would end what has begun since.
  const retry = runId === run.runId ? await readRetryOf(temporal, run) : undefined;
  const mayBeSentUntil = (run.closeTime?.getTime() ?? 0) + MAY_BE_SENT_AFTER_END_MS;
  return {
    runId: run.runId,
    step: settled.step,
    ...(notConfirmed !== undefined && !journal.isSure && { notConfirmed }),
    ...(journal.why !== undefined && { journalNotRead: journal.why }),
    ...(retry !== undefined && { retry }),
    ...(found === undefined &&
      Date.now() < mayBeSentUntil && { mayBeSentUntil: new Date(mayBeSentUntil).toISOString() }),
  };
};
