import type { Matches } from "@durable-payments/activities";
import { DISPATCH_WITHIN_MS } from "@durable-payments/activities/send-intent";
import { type HumanTask, normalizedKey, ownershipKeys } from "@durable-payments/protocol";
import { ActivityFailure } from "@temporalio/common";
import { sleep } from "@temporalio/workflow";
import { failureOfActivity, rootCause } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import { judge, type Look, type Verdict } from "./judge.ts";
import { serviceAnswers } from "./service-answers.ts";

/** What became of a send without an answer, as far as the service's list shows it. */
export type Reconciled<A> =
  | { readonly _tag: "Found"; readonly value: A }
  | { readonly _tag: "Absent" }
  | {
      readonly _tag: "Unclear";
      readonly reason: string;
      readonly candidates: HumanTask["candidates"];
    };

/** Something that a look showed. */
export interface Seen<A> {
  /** When the first look that showed it had ended. */
  readonly at: number;
  readonly item: A;
}

/** A send without an answer. */
export interface Unanswered<A> {
  readonly step: string;
  /** Reads the list, once; given what earlier looks showed that may be it. */
  readonly find: (seen: ReadonlyArray<A>) => Promise<Matches<A>>;
  /** The ids of something found, by the service's name of their field. */
  readonly ids: (found: A) => Readonly<Record<string, string>>;
  /** What a person is shown of something found. */
  readonly shown: (found: A) => HumanTask["candidates"][number];
  /** The mark of what the step makes, as other steps of the run bear it. */
  readonly intentMark: string;
  /** Whether it was not the worker itself that reported it: it may send yet. */
  readonly isWorkerLost: boolean;
  /** What looks showed that may be it, by its id; kept for further sends. */
  readonly seen: Map<string, Seen<A>>;
  /** Tells what a look came to. */
  readonly tell: (what: Verdict["_tag"]) => void;
}

/** Wait before the first look; each further one is twice as long. */
const LOOK_AFTER_MS = 2_000;

/** Shortest wait between two looks. */
const SHORTEST_WAIT_MS = 1_000;

/** Most looks for one send, before a person is asked. */
const MOST_LOOKS = 30;

/** Most looks that come to nothing while the service answers, before a person is asked. */
const MOST_IN_VAIN = 3;

/**
 * How often one look is tried: about half an hour, in which a list that does not add up is read
 * again. Not by the clock: a look may wait for a busy worker for longer than that.
 */
export const LOOK_OPTIONS = {
  startToCloseTimeout: "30 minutes",
  retry: {
    initialInterval: "1 second",
    backoffCoefficient: 2,
    maximumInterval: "1 minute",
    maximumAttempts: 36,
  },
} as const;

/** One look, or why none of its attempts came to anything. */
const lookOnce = async <A>(find: () => Promise<Matches<A>>): Promise<Matches<A> | Error> => {
  try {
    return await find();
  } catch (error) {
    const isOver =
      error instanceof ActivityFailure && error.retryState === "MAXIMUM_ATTEMPTS_REACHED";
    if (!isOver) throw error;
    return failureOfActivity(error) ?? rootCause(error);
  }
};

/**
 * Finds out by the service's list whether a send without an answer was carried out. It looks until
 * it can be known, and ends: what cannot be known is unclear.
 */
export const reconcile = async <A>(
  run: RunState,
  { find, ids: idsOf, intentMark, isWorkerLost, seen, shown, step, tell }: Unanswered<A>,
): Promise<Reconciled<A>> => {
  const lostAt = Date.now();
  const siblings = run.siblings(step);
  const siblingOf = (claims: ReadonlyArray<string>) => {
    const sought = new Set(claims.map(normalizedKey));
    return siblings.find((other) => other.claims.some((own) => sought.has(normalizedKey(own))))
      ?.step;
  };
  const unclear = (reason: string): Reconciled<A> => ({
    _tag: "Unclear",
    reason,
    candidates: [...seen.values()].map(({ item }) => shown(item)),
  });
  let wait = LOOK_AFTER_MS;
  let inVain = 0;
  const earlierLooks: Array<Look> = [];
  for (let looks = 1; ; looks++) {
    await sleep(wait);
    const lookedAt = Date.now();
    const looked = await lookOnce(() => find([...seen.values()].map(({ item }) => item)));
    if (looked instanceof Error) {
      inVain += 1;
      const isNoEvidence =
        "type" in looked && looked.type === "ListDoesNotAddUp" ? looked.message : undefined;
      if (isNoEvidence !== undefined || inVain >= MOST_IN_VAIN) {
        return unclear(isNoEvidence ?? `It could not be looked up: ${looked.message}`);
      }
      await serviceAnswers();
      continue;
    }
    const { items, matches, requestTimeoutMs } = looked;
    const endedAt = Date.now();
    const candidates = matches.map(({ id, isOurs, key, owner, ...match }, i) => {
      const item = items[i];
      const claims = ownershipKeys(item === undefined ? {} : idsOf(item), key);
      return {
        ...match,
        id,
        isOurs,
        hasOtherKey: !isOurs && key !== undefined,
        owner: owner ?? siblingOf(claims),
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
    const verdict = judge({
      ...looked,
      candidates,
      concurrentRuns: [
        ...looked.concurrentRuns,
        ...siblings.filter(({ intent }) => intent === intentMark).map((other) => other.step),
      ],
      lookedAt,
      earlierLooks,
      longestDoubtMs: requestTimeoutMs + DISPATCH_WITHIN_MS + looked.listLagMs,
      sendEndsAt: lostAt + requestTimeoutMs + (isWorkerLost ? DISPATCH_WITHIN_MS : 0),
    });
    tell(verdict._tag);
    earlierLooks.push({ lookedAt, endedAt });
    switch (verdict._tag) {
      case "Absent":
        return verdict;
      case "Unclear":
        return unclear(verdict.reason);
      case "Found": {
        const value = items[matches.findIndex(({ id }) => id === verdict.id)];
        return value === undefined
          ? unclear("It was found, and not read.")
          : { _tag: "Found", value };
      }
      case "Undecided":
        if (looks >= MOST_LOOKS) {
          return unclear(`${MOST_LOOKS} looks did not tell whether it is listed.`);
        }
        wait = Math.max(SHORTEST_WAIT_MS, Math.min(wait * 2, verdict.lookAgainAt - Date.now()));
    }
  }
};
