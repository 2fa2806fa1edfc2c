import type { JournalSend, Matches, SendIntent } from "@durable-payments/activities";
import type { OperationName } from "@durable-payments/api-core";
import type { HumanTask, SentBefore } from "@durable-payments/protocol";
import { isCancellation } from "@temporalio/workflow";
import { rootCause } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import { type Run, stateOf } from "../run/run.ts";
import { takeFound } from "./record-found.ts";
import { Sender } from "./sender.ts";

/** What is looked for: what a step may have sent, under any of its keys. */
export interface Sought<A> {
  readonly step: string;
  /** From when on it may have been sent: milliseconds since 1970. */
  readonly since: number;
  readonly keys: ReadonlyArray<string>;
  /** The mark of what it makes, by which other runs can be found that make the like. */
  readonly intentMark: string;
  /** What earlier looks showed that may be it. */
  readonly seen: ReadonlyArray<A>;
}

/** How a write without an answer is found in a list. */
export interface LookUp<Request extends object, A> {
  /** Reads the list, once. */
  readonly find: (request: Request, sought: Sought<A>) => Promise<Matches<A>>;
  /** What a person is shown of something found. */
  readonly shown: (found: A) => HumanTask["candidates"][number];
  /**
   * The request as an earlier send had it that carried another one, as far as the journal tells; left
   * out where the journal keeps nothing of it by which it could be looked for.
   */
  readonly asSent?: (request: Request, sent: JournalSend) => Request;
}

/** A write, and how to find out what became of it. */
export interface Sending<Request extends object, A> {
  /** The step it belongs to; its key is derived from it. */
  readonly step: string;
  readonly operation: OperationName;
  readonly request: Request;
  /** What it makes, without the key: equal for two writes that a list could not tell apart. */
  readonly intent: (request: Request) => string;
  /** Whether the request carries the step's key as `unique_request_id`. */
  readonly isKeyed: boolean;
  /** One send: one activity of the operation, which is told which send of which step it is. */
  readonly send: (request: Request, intent: SendIntent) => Promise<A>;
  /** Left out where no list shows it. */
  readonly lookUp?: LookUp<Request, A>;
  /** Without a look-up: whether the same request may be sent again, and what for. */
  readonly whenLost: "lookUp" | "repeat" | "ask";
  /** What a person is shown of the request. */
  readonly shown: (request: Request) => Readonly<Record<string, unknown>>;
  /** The ids that a person who found it gives, and how they become the result. */
  readonly idsWanted: ReadonlyArray<string>;
  readonly fromIds: (
    ids: Readonly<Record<string, string>>,
    request: Request,
    /** What the person was asked about. */
    candidates?: HumanTask["candidates"],
  ) => Promise<A>;
  /** The ids of what it made, by the service's name of their field: what the step owns from then on. */
  readonly ids: (result: A) => Readonly<Record<string, string>>;
}

/**
 * Sends a write until its outcome is known: never twice on a guess, never given up on a guess.
 *
 * - Certainly not carried out (service unreachable, rate limited, sends paused): waits and sends
 *   again, for as long as it takes.
 * - Refused: fails with the refusal, or asks a person, who can amend the request.
 * - Unknown: looks it up. Found: that is the result. Absent after the list had time to catch up:
 *   sends again. Unclear: asks a person.
 * - Sent before, as the journal has it: takes what it made, or looks it up.
 */
export const sendUntilKnown = async <Request extends object, A>(
  publicRun: Run,
  sending: Sending<Request, A>,
): Promise<A> => {
  const run = stateOf(publicRun);
  run.sendsOnce(sending.step);
  const before = await run.sentBefore(sending.step);
  const known = before?.outcome === "known" ? await takeOver(run, sending, before) : undefined;
  if (known !== undefined) {
    return keep(run, sending, { result: known.result, what: "known from the run before" });
  }
  const sender = new Sender(
    run,
    sending,
    before?.outcome === "known" ? { outcome: "unknown", amendments: 0 } : before,
  );
  try {
    let result: A | "send" = sender.hasPast ? await sender.settlePast() : "send";
    while (result === "send") {
      const intent = sender.begin();
      try {
        result = await run.shielded(() => sending.send(sender.request, intent));
      } catch (error) {
        result = await sender.settle(error);
      }
    }
    return keep(run, sending, { result, what: "known" });
  } catch (error) {
    sender.leave();
    throw error;
  }
};

/** Whether it is known what a step made before the run was reset: whatever led to it has been done. */
export const isMadeBefore = async (run: Run, step: string): Promise<boolean> =>
  (await stateOf(run).sentBefore(step))?.outcome === "known";

/**
 * Takes over what a step made in a run before this one, by its history or as a person said it: that a
 * person has said so does not make it this step's.
 *
 * @returns undefined where it is not what was sent, or another run or step has it.
 */
const takeOver = async <Request extends object, A>(
  run: RunState,
  sending: Sending<Request, A>,
  before: Extract<SentBefore, { readonly outcome: "known" }>,
): Promise<{ readonly result: A } | undefined> => {
  const { fromIds, request, step } = sending;
  try {
    const result = await fromIds(before.ids, request);
    await takeFound(run, sending, result);
    if (before.key !== undefined) run.owns(step, before.key);
    return { result };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = rootCause(error).message;
    run.audit.add({ who: "run", step, what: "not what this step sent", detail: { reason } });
    return undefined;
  }
};

/** Keeps what a write has made. */
const keep = <Request extends object, A>(
  run: RunState,
  { ids: idsOf, step }: Sending<Request, A>,
  { result, what }: { readonly result: A; readonly what: string },
): A => {
  const ids = idsOf(result);
  run.known(ids, step);
  run.clearIntent(step);
  // Nothing else of it stands: the journal permits no send after one that was carried out.
  run.knowsSendsUpTo(step, Number.MAX_SAFE_INTEGER);
  run.audit.add({ who: "run", step, what, detail: ids });
  return result;
};
