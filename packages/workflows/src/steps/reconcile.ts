import type { Matches } from "@durable-payments/activities";
import { DISPATCH_WITHIN_MS } from "@durable-payments/activities/send-intent";
import {
  absentSoFar,
  type HumanTask,
  type IfAbsent,
  intentMark as markOf,
  type ListReading,
  normalizedKey,
  ownershipKeys,
  utc,
} from "@durable-payments/protocol";
import { ActivityFailure } from "@temporalio/common";
import { metricMeter, sleep } from "@temporalio/workflow";
import { awaitService } from "../run/polling.ts";
import { failureOfActivity, rootCause } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import { decideOutcome, type ListRead, type Reconciliation } from "./decide-outcome.ts";
import type { Reconciler, Write, ListSearch } from "./write.ts";

/** What became of a send without an answer, as far as the service's list shows it. */
export type Reconciled<A> =
  | {
      readonly _tag: "Found";
      readonly value: A;
      /** Whether its key, or the journal, says that it is what was sent; otherwise only its fields do. */
      readonly isProved: boolean;
    }
  | { readonly _tag: "Absent"; readonly listRead: ListReading }
  | {
      readonly _tag: "Unclear";
      readonly reason: string;
      readonly candidates: HumanTask["candidates"];
      /** Left out where no reading was whole. */
      readonly listRead?: ListReading;
    };

/** How the list was read, where that did not find it. */
export const listReadOf = (found: Reconciled<unknown>): ListReading | undefined =>
  found._tag === "Found" ? undefined : found.listRead;

/** Something that the list showed. */
export interface Seen<A> {
  /** When the first read that showed it had ended. */
  readonly at: number;
  readonly item: A;
}

const countVerdict = (operation: string, verdict: string): void =>
  metricMeter
    .createCounter(
      "payments_reconciliations",
      undefined,
      "Writes without an answer that were looked up in the service's lists, by verdict",
    )
    .add(1, { operation, verdict });

/** A send without an answer. */
interface Unanswered<A> {
  readonly step: string;
  readonly operation: string;
  /** Reads the list, once; given what earlier reads showed that may be what was sent. */
  readonly find: (seen: ReadonlyArray<A>) => Promise<Matches<A>>;
  /** The ids of something found, by the service's name of their field. */
  readonly ids: (found: A) => Readonly<Record<string, string>>;
  /** What a person is shown of something found. */
  readonly shown: (found: A) => HumanTask["candidates"][number];
  /** The mark of what the step makes, as other steps of the run have it. */
  readonly intentMark: string;
  /** Whether it was not the worker itself that reported it: it may send yet. */
  readonly isWorkerLost: boolean;
  /** What reads showed that may be what was sent, by its id; kept for further sends. */
  readonly seen: Map<string, Seen<A>>;
  /** Why the list is read, for a person. */
  readonly about: string;
  /** What follows where it is absent, for a person. */
  readonly ifAbsent: IfAbsent;
  /** Writes what a read decided into the audit trail. */
  readonly log: (what: Reconciliation["_tag"]) => void;
}

/** Wait before the first read; each further one is twice as long. */
const FIRST_READ_AFTER_MS = 2_000;

/** Shortest wait between two reads. */
const SHORTEST_WAIT_MS = 1_000;

/** Most reads for one send, before a person is asked. */
const MOST_READS = 30;

/** Most reads that fail while the service answers, before a person is asked. */
const MOST_FAILED_READS = 3;

/**
 * How often one read is tried: about half an hour, in which a list that does not add up is read
 * again. Not by the clock: a read may wait for a busy worker for longer than that.
 */
export const READ_OPTIONS = {
  startToCloseTimeout: "30 minutes",
  retry: {
    initialInterval: "1 second",
    backoffCoefficient: 2,
    maximumInterval: "1 minute",
    maximumAttempts: 36,
  },
} as const;

/** One read, or why all of its attempts failed. */
const readOnce = async <A>(find: () => Promise<Matches<A>>): Promise<Matches<A> | Error> => {
  try {
    return await find();
  } catch (error) {
    const isOver =
      error instanceof ActivityFailure && error.retryState === "MAXIMUM_ATTEMPTS_REACHED";
    if (!isOver) throw error;
    return failureOfActivity(error) ?? rootCause(error);
  }
};

/** What is known before the list shows all that a send may have made, and what follows when it does. */
const soFar = (listed: number, ifAbsent: IfAbsent, knownAt: number): string =>
  listed === 0
    ? absentSoFar(ifAbsent, knownAt)
    : `${listed} listed that may be it: known after ${utc(knownAt)}`;

/**
 * Read the service's list until it is known whether a send without an answer was carried out. It ends:
 * what cannot be known is unclear.
 */
const readUntilKnown = async <A>(
  run: RunState,
  {
    about,
    find,
    ids: idsOf,
    ifAbsent,
    intentMark,
    isWorkerLost,
    operation,
    seen,
    shown,
    step,
    log,
  }: Unanswered<A>,
): Promise<Reconciled<A>> => {
  const lostAt = Date.now();
  const siblings = run.sends.siblings(step);
  const siblingOf = (keys: ReadonlyArray<string>) => {
    const wanted = new Set(keys.map(normalizedKey));
    return siblings.find((other) => other.owned.some((key) => wanted.has(normalizedKey(key))))
      ?.step;
  };
  const counted = (reconciled: Reconciled<A>): Reconciled<A> => {
    countVerdict(operation, reconciled._tag);
    return reconciled;
  };
  const unclear = (reason: string): Reconciled<A> =>
    counted({
      _tag: "Unclear",
      reason,
      candidates: [...seen.values()].map(({ item }) => shown(item)),
      ...(listRead !== undefined && { listRead }),
    });
  let listRead: ListReading | undefined;
  let note = about;
  let wait = FIRST_READ_AFTER_MS;
  let failedReads = 0;
  const earlierReads: Array<ListRead> = [];
  for (let reads = 1; ; reads++) {
    run.waiting(step, note);
    await sleep(wait, { summary: note });
    const readAt = Date.now();
    const found = await readOnce(() => find([...seen.values()].map(({ item }) => item)));
    if (found instanceof Error) {
      failedReads += 1;
      const isNoEvidence =
        "type" in found && found.type === "ListDoesNotAddUp" ? found.message : undefined;
      if (isNoEvidence !== undefined || failedReads >= MOST_FAILED_READS) {
        return unclear(isNoEvidence ?? `The list could not be read: ${found.message}`);
      }
      await awaitService();
      continue;
    }
    const { items, matches, requestTimeoutMs } = found;
    const endedAt = Date.now();
    const candidates = matches.map(({ id, isOurs, key, owner, ...match }, i) => {
      const item = items[i];
      const keys = ownershipKeys(item === undefined ? {} : idsOf(item), key);
      return {
        ...match,
        id,
        isOurs,
        hasOtherKey: !isOurs && key !== undefined,
        owner: owner ?? siblingOf(keys),
        firstSeen: seen.get(id)?.at ?? endedAt,
      };
    });
    for (const [i, item] of items.entries()) {
      const candidate = candidates[i];
      if (candidate === undefined) continue;
      const { firstSeen: at, id, owner } = candidate;
      // A person is not asked about what others are known to have made.
      if (owner === undefined) seen.set(id, { at, item });
      else seen.delete(id);
    }
    const reconciliation = decideOutcome({
      ...found,
      candidates,
      concurrentRuns: [
        ...found.concurrentRuns,
        ...siblings.filter(({ intent }) => intent === intentMark).map((other) => other.step),
      ],
      readAt,
      earlierReads,
      longestDoubtMs: requestTimeoutMs + DISPATCH_WITHIN_MS + found.listLagMs,
      sendEndsAt: lostAt + requestTimeoutMs + (isWorkerLost ? DISPATCH_WITHIN_MS : 0),
    });
    log(reconciliation._tag);
    earlierReads.push({ readAt, endedAt });
    const reading = { times: earlierReads.length, until: new Date(endedAt).toISOString() };
    if (found.isUnlisted !== true) listRead = reading;
    switch (reconciliation._tag) {
      case "Absent":
        return counted({ ...reconciliation, listRead: reading });
      case "Unclear":
        return unclear(reconciliation.reason);
      case "Found": {
        const index = matches.findIndex(({ id }) => id === reconciliation.id);
        const value = items[index];
        return value === undefined
          ? unclear("It was found, and not read.")
          : counted({ _tag: "Found", value, isProved: matches[index]?.isOurs === true });
      }
      case "Undecided":
        if (reads >= MOST_READS) {
          return unclear(`It was not known after ${MOST_READS} reads whether it is listed.`);
        }
        note = `${soFar(seen.size, ifAbsent, reconciliation.readAgainAt)} (${about})`;
        wait = Math.max(
          SHORTEST_WAIT_MS,
          Math.min(wait * 2, reconciliation.readAgainAt - Date.now()),
        );
    }
  }
};

/** What became unknown: which request was sent, since when and under which keys. */
type UnansweredWrite<Request, A> = Pick<
  Unanswered<A>,
  "about" | "ifAbsent" | "isWorkerLost" | "log" | "seen"
> &
  Pick<ListSearch<A>, "keys" | "since"> & { readonly request: Request };

/** Reconcile a write: find out by the service's list whether what a step has sent was carried out. */
export const reconcileWrite = <Request extends object, A>(
  run: RunState,
  {
    ids,
    intent,
    operation,
    step,
  }: Pick<Write<Request, A>, "ids" | "intent" | "operation" | "step">,
  { find, shown }: Reconciler<Request, A>,
  { keys, request, seen, since, ...unanswered }: UnansweredWrite<Request, A>,
): Promise<Reconciled<A>> => {
  const mark = markOf(intent(request));
  return run.shielded(() =>
    readUntilKnown(run, {
      ...unanswered,
      step,
      operation,
      find: (before) => find(request, { step, since, keys, seen: before, intentMark: mark }),
      ids,
      shown,
      intentMark: mark,
      seen,
    }),
  );
};
