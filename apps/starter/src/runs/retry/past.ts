import {
  type EndingDecision,
  ownershipKeys,
  queryText,
  type RetryInstruction,
  type Sending,
  sendingOf,
  sendingReconciledBy,
  sendingUndoneBy,
} from "@durable-payments/protocol";
import { type WorkflowExecutionDescription, WorkflowNotFoundError } from "@temporalio/client";
import type { Temporal } from "../../connection/temporal.ts";
import { badInput } from "../../errors.ts";
import { isRecord, textAt } from "../../input/fields.ts";
import { type KeptSettlement, readSettlement } from "../settlement.ts";
import { allDecisions } from "./ended-by-person.ts";
import { type PastActivity, type PastStep, type ReadRun, readRun } from "./read-steps.ts";

/** What became of all that a step has sent, in all runs of its workflow id. */
export type Sent =
  | { readonly outcome: "known"; readonly id: string }
  | { readonly outcome: "refused" | "notSent" | "unknown" };

/** The sends of one step. */
export interface PastSend {
  readonly kind: Sending;
  readonly sent: Sent;
  /** How many keys it has used. */
  readonly keys: number;
  /** What it sent last. */
  readonly lastInput: unknown;
  /** Ids of what the journal had of it, where only that knew of it. */
  readonly ids?: Readonly<Record<string, string>>;
  /** Sends before, of other requests, of which nobody knows what became; only the journal had them. */
  readonly others?: ReadonlyArray<OtherSend>;
  /** Whether nobody knows what became of one that carried what it sent last. */
  readonly isLastInDoubt?: boolean;
}

/** A send of another request than the step's own, as the journal had it. */
export interface OtherSend {
  readonly key?: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Whether something else was sent beside it since. */
  readonly isLeft: boolean;
}

/** A run of a workflow id, read. */
export type ReadPastRun = ReadRun & { readonly runId: string };

/** What is known of a workflow id that is to be retried. */
export interface Past {
  /** The steps of the latest run, in order. */
  readonly steps: ReadonlyArray<PastStep>;
  readonly sends: ReadonlyMap<string, PastSend>;
  /** What was undone after the failure, as claims: `card:ID`, `cardholder:ID`. */
  readonly undone: ReadonlySet<string>;
  /** What was to be undone, and nobody knows whether it was; also as claims. */
  readonly undoing: ReadonlySet<string>;
  /** What the first run was started with. */
  readonly startedWith: unknown;
  /** The same with all amendments since. */
  readonly input: unknown;
  readonly amendedBy: ReadonlyArray<string>;
  /** The account that its runs were pinned to, as a hash. */
  readonly account: string | undefined;
  /** Decisions of people that ended runs of this id, oldest first. */
  readonly decisions: ReadonlyArray<EndingDecision>;
  /** Who asked the latest run to end, where somebody did. */
  readonly cancelAsked: ReadRun["cancelAsked"];
  /** What people found out about sends of unknown outcome, in the order of the runs. */
  readonly settlements: ReadonlyArray<KeptSettlement>;
}

/** Failures of a send that say that it was not carried out, and would not be if it were repeated. */
const REFUSED: ReadonlySet<string> = new Set(["Refused", "InvalidRequest"]);

/** Failures of a send that say that it was not carried out. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "NotAuthenticated",
  "OtherAccount",
  "Paused",
  "RateLimited",
  "RunCancelling",
  "RunEnded",
  "Unavailable",
]);

/** Failure of a send that the journal did not permit. */
const SENT_ALREADY = "AlreadySent";

/** Ids that look-ups, people and the journal found; those that the run took are its own. */
const foundIds = (
  steps: ReadonlyArray<PastStep>,
  { idField: id, operation }: Sending,
): Array<string> =>
  steps.flatMap(({ activities, decisions }) => [
    ...activities.flatMap(({ failureDetail, type }) =>
      type === operation && isRecord(failureDetail) ? (textAt(failureDetail["ids"], id) ?? []) : [],
    ),
    ...activities.flatMap(({ result, type }) => {
      const items =
        sendingReconciledBy(type)?.operation === operation && isRecord(result)
          ? result["items"]
          : [];
      return Array.isArray(items) ? items.flatMap((item) => textAt(item, id) ?? []) : [];
    }),
    ...decisions.flatMap(({ found }) => textAt(found, id) ?? []),
  ]);

/** Whether these claims have what a send made. */
export const claims = (
  all: ReadonlySet<string>,
  { idField: name }: Pick<Sending, "idField">,
  id: string,
): boolean => ownershipKeys({ [name]: id }).some((claim) => all.has(claim));

const outcomeOf = ({ failure, failureDetail }: PastActivity) => {
  if (REFUSED.has(failure)) return "refused";
  // The journal did not permit it: nothing was sent by it, and it tells of the send before it.
  const isSettled =
    failure === SENT_ALREADY && textAt(failureDetail, "outcome") === "notCarriedOut";
  return NOT_SENT.has(failure) || isSettled ? "notSent" : "unknown";
};

/** Sends of other requests, in doubt, that the journal told of when a step was about to send. */
const othersTold = ({ failure, failureDetail }: PastActivity): ReadonlyArray<unknown> => {
  if (failure !== SENT_ALREADY || !isRecord(failureDetail)) return [];
  const { isSamePayload, otherInDoubt, outcome } = failureDetail;
  const isOther = isSamePayload === false && (outcome === "begun" || outcome === "unknown");
  return [...(isOther ? [failureDetail] : []), ...(isRecord(otherInDoubt) ? [otherInDoubt] : [])];
};

/** The sends of other requests that are in doubt, each once: what was sent since was sent beside. */
const othersOf = (attempts: ReadonlyArray<PastActivity>): ReadonlyArray<OtherSend> => {
  const others = new Map<string, OtherSend>();
  attempts.forEach((attempt, index) => {
    const isLeft = attempts.slice(index + 1).some(({ failure }) => failure !== SENT_ALREADY);
    for (const told of othersTold(attempt)) {
      const [key, amount, currency] = ["key", "amount", "currency"].map((at) => textAt(told, at));
      others.set(JSON.stringify([key, amount, currency]), {
        ...(key !== undefined && { key }),
        ...(amount !== undefined && { amount }),
        ...(currency !== undefined && { currency }),
        isLeft,
      });
    }
  });
  return [...others.values()];
};

/** Ids of what steps have made, or may have: of what several of them were shown each may have one. */
const idsSeenBy = (steps: ReadonlyArray<PastStep>, kind: Sending): ReadonlySet<string> =>
  new Set([
    ...steps
      .flatMap(({ activities }) => activities)
      .flatMap(({ result, type }) =>
        type === kind.operation ? (textAt(result, kind.idField) ?? []) : [],
      ),
    ...foundIds(steps, kind),
  ]);

const sentBy = (
  { others, steps }: Readonly<Record<"others" | "steps", ReadonlyArray<PastStep>>>,
  kind: Sending,
  owned: ReadonlySet<string>,
): Sent => {
  const attempts = steps
    .flatMap(({ activities }) => activities)
    .filter(({ type }) => type === kind.operation)
    .toSorted((a, b) => a.at - b.at);
  const made = attempts.findLast(({ isDone }) => isDone);
  // What the run owns is this step's where no other step can have taken it.
  const seenByOthers = idsSeenBy(others, kind);
  const id =
    textAt(made?.result, kind.idField) ??
    foundIds(steps, kind).findLast(
      (found) => claims(owned, kind, found) && !seenByOthers.has(found),
    );
  if (id !== undefined) return { outcome: "known", id };
  const outcomes = attempts.map(outcomeOf);
  // What became of a later send does not tell what became of one before it, nor does a list that
  // did not show it then.
  return { outcome: outcomes.includes("unknown") ? "unknown" : (outcomes.at(-1) ?? "notSent") };
};

const sendsOf = (runs: ReadonlyArray<ReadRun>): Map<string, PastSend> => {
  const owned = new Set(runs.flatMap(({ ids }) => [...ids]));
  const names = new Set(runs.flatMap(({ steps }) => steps.map(({ name }) => name)));
  const sends = new Map<string, PastSend>();
  for (const name of names) {
    const all = runs.flatMap((run) => run.steps);
    const steps = all.filter((step) => step.name === name);
    const others = all.filter((step) => step.name !== name);
    const activities = steps.flatMap((step) => step.activities);
    const kind = activities
      .map(({ type }) => sendingOf(type) ?? sendingReconciledBy(type))
      .find((known) => known !== undefined);
    if (kind === undefined) continue;
    const keys = new Set(
      activities
        .filter(({ type }) => type === kind.operation)
        .flatMap(({ input }) => textAt(input, "unique_request_id") ?? []),
    );
    const attempts = activities
      .filter(({ type }) => type === kind.operation)
      .toSorted((a, b) => a.at - b.at);
    const lastInput = attempts.at(-1)?.input;
    const otherSends = othersOf(attempts);
    sends.set(name, {
      kind,
      sent: sentBy({ steps, others }, kind, owned),
      keys: keys.size,
      lastInput,
      ...(otherSends.length > 0 && {
        others: otherSends,
        isLastInDoubt: attempts.some(
          (attempt) => outcomeOf(attempt) === "unknown" && othersTold(attempt).length === 0,
        ),
      }),
    });
  }
  for (const { operation, step, ...sent } of runs.flatMap(({ forgotten }) => forgotten)) {
    const kind = sendingOf(operation);
    if (kind === undefined || sends.get(step)?.sent.outcome === "known") continue;
    const { amount, currency, ids, key: unique_request_id } = sent;
    const lastInput = { amount, currency, unique_request_id };
    sends.set(step, { kind, sent: { outcome: "unknown" }, keys: 1, lastInput, ids });
  }
  return sends;
};

/** A run undoes at its end, after the step that failed. */
const undoneBy = (runs: ReadonlyArray<ReadRun>) => {
  const attempts = runs
    .flatMap(({ steps }) => steps.at(-1)?.activities ?? [])
    .flatMap(({ input, isDone, type }) => {
      const name = sendingUndoneBy(type)?.idField ?? "";
      return ownershipKeys({ [name]: textAt(input, name) ?? "" }).map((claim) => ({
        claim,
        isDone,
      }));
    });
  const undone = new Set(attempts.filter(({ isDone }) => isDone).map(({ claim }) => claim));
  const all = attempts.map(({ claim }) => claim);
  return { undone, undoing: new Set(all.filter((claim) => !undone.has(claim))) };
};

/** The amendment of a person to one step, as one of the run's input. */
const asInput = (
  input: unknown,
  { input: part }: Sending,
  amend: Readonly<Record<string, unknown>>,
): unknown => {
  if (!isRecord(input)) return input;
  const { beneficiary_id, ...fields } = amend;
  return {
    ...input,
    ...("beneficiary_id" in input && beneficiary_id !== undefined && { beneficiary_id }),
    [part]: { ...(isRecord(input[part]) ? input[part] : {}), ...fields },
  };
};

const isOrder = (value: unknown): value is RetryInstruction =>
  isRecord(value) && isRecord(value["sent"]);

/** The orders that runs have taken up, oldest first. */
const ordersOf = (runs: ReadonlyArray<ReadRun>): Array<RetryInstruction> =>
  runs.flatMap(({ changes }) =>
    changes.flatMap((change) => {
      const order =
        change.by === "reset" && isRecord(change.answer) ? change.answer["order"] : undefined;
      return isOrder(order) ? [order] : [];
    }),
  );

/** The input with all amendments: of earlier retries, and of people whom a run has asked. */
const amendedInput = (runs: ReadonlyArray<ReadRun>, sends: ReadonlyMap<string, PastSend>) => {
  const startedWith = runs[0]?.startedWith;
  const amendedBy = new Set<string>();
  let input = startedWith;
  for (const change of runs.flatMap(({ changes }) => changes)) {
    if (change.by === "reset") {
      const order = isRecord(change.answer) ? change.answer["order"] : undefined;
      if (!isOrder(order)) continue;
      input = order.input ?? input;
      for (const name of order.amendedBy) amendedBy.add(name);
    } else {
      const { amend, by } = change.decision;
      const kind = sends.get(change.step)?.kind;
      if (kind === undefined || !isRecord(amend)) continue;
      input = asInput(input, kind, amend);
      amendedBy.add(String(by));
    }
  }
  return { startedWith, input, amendedBy: [...amendedBy] };
};

/** What the histories of all runs of a workflow id tell, the latest last. */
export const pastOf = (runs: ReadonlyArray<ReadPastRun>): Past => {
  const sends = sendsOf(runs);
  return {
    steps: runs.at(-1)?.steps ?? [],
    sends,
    settlements: [],
    ...undoneBy(runs),
    ...amendedInput(runs, sends),
    account: runs.findLast(({ account }) => account !== undefined)?.account,
    decisions: allDecisions(
      runs.flatMap(({ endedBy, runId }) => (endedBy === undefined ? [] : [{ ...endedBy, runId }])),
      ordersOf(runs),
    ),
    cancelAsked: runs.at(-1)?.cancelAsked,
  };
};

const historyOf = async (
  { client }: Temporal,
  workflowId: string,
  runId: string,
): Promise<ReadPastRun> => {
  try {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return { ...readRun(history), runId };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw badInput(
      `The history of ${runId}, an earlier run of ${workflowId}, is gone: nobody can tell what it has sent. Nothing was done.`,
    );
  }
};

/**
 * Reads what all runs of a workflow id have done: this one, those that it was reset from, and
 * those that were reset meanwhile.
 *
 * @throws BadInput where one of them is gone
 */
export const readPast = async (
  temporal: Temporal,
  { raw, runId, workflowId }: WorkflowExecutionDescription,
): Promise<Past> => {
  const runs = new Map<string, ReadPastRun>();
  let next: string | undefined = runId;
  while (next !== undefined && !runs.has(next)) {
    const run: ReadPastRun = await historyOf(temporal, workflowId, next);
    runs.set(next, run);
    next = run.reset?.runId;
  }
  const inOrder = [...runs.values()].toReversed();
  const isReset = raw.workflowExecutionInfo?.firstRunId !== runId;
  const others: Array<ReadPastRun> = [];
  if (isReset) {
    const query = `WorkflowId = ${queryText(workflowId)}`;
    for await (const other of temporal.client.workflow.list({ query })) {
      if (!runs.has(other.runId)) {
        others.push(await historyOf(temporal, workflowId, other.runId));
      }
    }
  }
  return settled(temporal, [...others, ...inOrder]);
};

/**
 * What the runs' histories tell, and where they do not know it, what a person found out since: what
 * was found is found for good, and "not carried out" holds for the latest run.
 */
const settled = async (temporal: Temporal, runs: ReadonlyArray<ReadPastRun>): Promise<Past> => {
  const past = pastOf(runs);
  const sends = new Map(past.sends);
  const settlements: Array<KeptSettlement> = [];
  for (const [step, send] of past.sends) {
    if (send.sent.outcome !== "unknown") continue;
    for (const { runId } of runs) {
      const settlement = await readSettlement(temporal, runId, step);
      if (settlement === undefined) continue;
      settlements.push(settlement);
      const id = settlement.found?.[send.kind.idField];
      if (id !== undefined) sends.set(step, { ...send, sent: { outcome: "known", id } });
      else if (runId === runs.at(-1)?.runId) {
        sends.set(step, { ...send, sent: { outcome: "notSent" } });
      }
    }
  }
  return { ...past, sends, settlements };
};
