import type { SendIntent, SentAlready, SentBefore } from "@durable-payments/activities";
import type { OperationName } from "@durable-payments/api-core";
import { CancelledFailure } from "@temporalio/common";
import { CancellationScope, isCancellation, sleep, workflowInfo } from "@temporalio/workflow";
import { activities, localActivities } from "../run/activities.ts";
import type { Attention, Resolution } from "../run/attention.ts";
import { readSendFailure, rootCause } from "../run/failures.ts";
import { stepKey } from "../run/keys.ts";
import { moneyOf, type StepInDoubt } from "../run/in-doubt.ts";
import type { Run } from "../run/run.ts";

/**
 * What a look-up came to, with what it found. Lists lag, and so does the knowledge of what belongs
 * to other runs: only what bears our key is believed at once, all else `certainAfterMs` after the
 * send at the earliest.
 */
export type LookUp<A> =
  | { readonly _tag: "Found"; readonly value: A; readonly certainAfterMs: number }
  | { readonly _tag: "Absent"; readonly certainAfterMs: number }
  | {
      readonly _tag: "Unclear";
      readonly reason: string;
      readonly candidates: Attention["candidates"];
      readonly certainAfterMs: number;
    };

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
  /**
   * Looks for what a send without an answer may have made, under any of the step's keys; left out
   * where no list shows it.
   */
  readonly lookUp?: (
    request: Request,
    since: number,
    keys: ReadonlyArray<string>,
  ) => Promise<LookUp<A>>;
  /** Without a look-up: whether the same request may be sent again, and what for. */
  readonly whenLost: "lookUp" | "repeat" | "ask";
  /** What a person is shown of the request. */
  readonly shown: (request: Request) => Readonly<Record<string, unknown>>;
  /** The ids that a person who found it gives, and how they become the result. */
  readonly idsWanted: ReadonlyArray<string>;
  readonly fromIds: (ids: Readonly<Record<string, string>>, request: Request) => Promise<A>;
  /** The ids of the result, for the progress and the audit trail. */
  readonly ids: (result: A) => Readonly<Record<string, string>>;
}

/** How the audit trail calls what became of a send. */
const OUTCOMES = {
  Paused: "held back",
  NotCarriedOut: "not carried out",
  Refused: "refused",
  AlreadySent: "sent before",
  Unknown: "no answer",
} as const;

/** Longest wait between two sends that were turned away, while the service can be reached. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** Wait before the first look-up; each further one is twice as long. */
const LOOK_AFTER_MS = 2_000;

/** Repeats of a request that may be repeated as it is, before a person is asked. */
const MOST_REPEATS = 5;

/**
 * Sends a write until its outcome is known: never twice on a guess, never given up on a guess.
 *
 * - Certainly not carried out (service unreachable, rate limited, sends paused): waits and sends
 *   again, for as long as it takes.
 * - Refused: fails with the refusal, or asks a person, who can amend the request.
 * - Unknown: looks it up. Found: that is the result. Absent after the list had time to catch up:
 *   sends again. Unclear: asks a person.
 */
export const sendUntilKnown = async <Request extends object, A>(
  run: Run,
  sending: Sending<Request, A>,
): Promise<A> => {
  run.sendsOnce(sending.step);
  const told = run.sentBefore(sending.step);
  const before = told instanceof Promise ? await told : told;
  if (before?.outcome === "known") {
    const result = await sending.fromIds(before.ids, sending.request);
    return keep(run, sending, { result, what: "known from the run before" });
  }
  const sender = new Sender(run, sending, before);
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
    sender.leave(error);
    throw error;
  }
};

/** Keeps what a write has made. */
const keep = <Request extends object, A>(
  run: Run,
  { ids: idsOf, step }: Sending<Request, A>,
  { result, what }: { readonly result: A; readonly what: string },
): A => {
  const ids = idsOf(result);
  run.known(ids, step);
  run.settled(step);
  run.audit.add({ who: "run", step, what, detail: ids });
  return result;
};

/**
 * Awaits, however long it takes, that the service can be reached: the retries of a read add nothing
 * to the history, where sending again and again would.
 */
const serviceAnswers = async (): Promise<void> => {
  try {
    await activities.ping.executeWithOptions({ summary: "Await the service" }, [{}]);
  } catch (error) {
    // Whatever else is wrong, the send itself will tell.
    if (isCancellation(error)) throw error;
  }
};

/** Whoever amends it here could make it another payment than the one that was approved. */
const AMEND_BY_RETRY =
  "This payment needs a second person's approval: to amend it, abandon it and retry the run amended, which asks for approval anew.";

/** Most amendments of one step that a look-up goes back to. */
const MOST_AMENDMENTS = 20;

const startTimeMs = (): number => workflowInfo().startTime.getTime();

/** A refused request was not carried out, so its successor has a key of its own. */
const keyOf = (step: string, amendments: number): string =>
  stepKey(amendments === 0 ? step : `${step}#${amendments}`);

/**
 * What is known of a write on its way. A cancellation stops it where nothing is in doubt: not while
 * a request is under way or looked up, but before it is sent again.
 */
class Sender<Request extends object, A> {
  readonly #run: Run;
  readonly #sending: Sending<Request, A>;
  /** From when on it may have been sent. */
  #since: number;
  readonly #isSentBefore: boolean;
  #request: Request;
  #key: string | undefined;
  /** Which send of the step is the next one, in all runs of the workflow id. */
  #number = 1;
  /** The key of an earlier send that only the journal knew of. */
  #keyBefore: string | undefined;
  #unknownOutcomes = 0;
  #turnedAway = 0;
  /** Whether something may have been made that this run does not know. */
  #isInDoubt = false;
  #amendments: number;

  constructor(
    run: Run,
    sending: Sending<Request, A>,
    before: Exclude<SentBefore, { readonly outcome: "known" }> | undefined,
  ) {
    this.#isSentBefore = before?.outcome === "unknown";
    this.#since = this.#isSentBefore ? startTimeMs() : Date.now();
    this.#amendments = before?.amendments ?? 0;
    this.#run = run;
    this.#sending = sending;
    this.#request = this.#fix(sending.request);
  }

  /** The request as it is to be sent. */
  get request(): Request {
    return this.#request;
  }

  /** Whether there is something to do before the first send: an amended input, a send of an earlier run. */
  get hasPast(): boolean {
    return this.#run.isAmended || this.#isSentBefore;
  }

  /** Checks and looks up what is to be known before the first send. */
  async settlePast(): Promise<A | "send"> {
    if (this.#run.isAmended) await this.#checkAmended();
    if (!this.#isSentBefore) return "send";
    this.#isInDoubt = true;
    this.#run.outcomeUnknown(this.#doubt);
    // Without a list, the refusal of a repeat does not tell what became of the send before it.
    if (this.#sending.lookUp === undefined) this.#unknownOutcomes += 1;
    return this.#lookUp("An earlier run of this workflow may have sent it.", "");
  }

  /**
   * Tells that it is being sent; throws where the run is cancelled: nothing is in doubt before a send.
   *
   * @returns which send it is: no two of a step have the same number.
   */
  begin(): SendIntent {
    if (CancellationScope.current().consideredCancelled) throw new CancelledFailure("Not sent.");
    this.#run.outcomeUnknown(this.#doubt);
    this.#tell("sending");
    const number = this.#number;
    this.#number += 1;
    return { step: this.#sending.step, number };
  }

  /** What a send that failed came to: what it made after all, or that it is to be sent again. */
  async settle(error: unknown): Promise<A | "send"> {
    const failure = readSendFailure(error);
    if (failure._tag !== "Unknown" && !this.#isInDoubt) this.#run.notCarriedOut(this.#sending.step);
    this.#tell(OUTCOMES[failure._tag], rootCause(error).message);
    switch (failure._tag) {
      case "NotCarriedOut": {
        this.#turnedAway += 1;
        this.#run.waiting(this.#sending.step, failure.reason);
        const longer = failure.waitMs * 2 ** Math.min(this.#turnedAway - 1, 12);
        await sleep(Math.max(failure.waitMs, Math.min(LONGEST_WAIT_MS, longer)));
        await serviceAnswers();
        return "send";
      }
      case "Paused":
        this.#run.waiting(this.#sending.step, failure.reason);
        await activities.awaitResume.executeWithOptions(
          { summary: "Await the end of the pause" },
          [],
        );
        return "send";
      case "Refused":
        return this.#onRefusal(failure.failure);
      case "AlreadySent":
        return this.#onSentBefore(failure.sent, failure.reason);
      case "Unknown":
        this.#unknownOutcomes += 1;
        this.#isInDoubt = true;
        return this.#lookUp(failure.reason, failure.type);
    }
  }

  /** A run that is cancelled with nothing in doubt has made nothing. */
  leave(error: unknown): void {
    if (isCancellation(error) && !this.#isInDoubt) this.#run.settled(this.#sending.step);
  }

  /** The keys under which this step may have sent, in this run and, amended, in those before. */
  get #keys(): ReadonlyArray<string> {
    const { isKeyed, step } = this.#sending;
    if (!isKeyed) return [];
    const most = this.#isSentBefore ? MOST_AMENDMENTS : this.#amendments;
    return [
      ...Array.from({ length: most + 1 }, (_, amendments) => keyOf(step, amendments)),
      ...(this.#keyBefore === undefined ? [] : [this.#keyBefore]),
    ];
  }

  /** Fixes key and payload before the first send: every further send is the very same. */
  #fix(request: Request): Request {
    const { intent, isKeyed, step } = this.#sending;
    this.#key = isKeyed ? keyOf(step, this.#amendments) : undefined;
    this.#run.intends(step, {
      intent: intent(request),
      ...(this.#key !== undefined && { key: this.#key }),
    });
    return this.#key === undefined ? request : { ...request, unique_request_id: this.#key };
  }

  async #onRefusal(refusal: Error): Promise<A | "send"> {
    // The refusal of a repeat does not tell what became of a send before it.
    if (this.#unknownOutcomes > 0) {
      return this.#ask(`An earlier send got no answer; the repeat: ${refusal.message}`, []);
    }
    if (this.#run.options.onRefusal !== "ask") {
      this.#run.settled(this.#sending.step);
      throw refusal;
    }
    return this.#askToAmend(refusal.message);
  }

  /** The journal knows of a send that this run does not: of a run before it, or of a lost worker. */
  async #onSentBefore(sent: SentAlready, reason: string): Promise<A | "send"> {
    const { fromIds, idsWanted, lookUp } = this.#sending;
    this.#number = Math.max(this.#number, sent.number + 1);
    this.#since = Math.min(this.#since, sent.begunAt);
    this.#keyBefore = sent.key;
    // What it says of the latest send does not tell what became of those before it.
    if (sent.outcome === "notCarriedOut" && sent.number === 1) return "send";
    if (sent.outcome !== "notCarriedOut") this.#isInDoubt = true;
    if (!sent.isSamePayload && sent.outcome !== "notCarriedOut") {
      return this.#ask(`${reason} It was another request than this one.`, []);
    }
    if (sent.outcome === "carriedOut" && idsWanted.every((id) => sent.ids[id] !== undefined)) {
      try {
        return await fromIds(sent.ids, this.#request);
      } catch (error) {
        if (isCancellation(error)) throw error;
        return this.#ask(`${reason} What it made is not it: ${rootCause(error).message}`, []);
      }
    }
    this.#unknownOutcomes += 1;
    // It may have been sent by a run whose history is gone.
    if (lookUp !== undefined) this.#since = Math.min(this.#since, startTimeMs());
    return this.#lookUp(reason, "AlreadySent");
  }

  async #lookUp(reason: string, type: string): Promise<A | "send"> {
    const { lookUp, step, whenLost } = this.#sending;
    if (lookUp === undefined) {
      // The service answered, and its answer does not say what a repeat would not say either.
      const isAnswered = type === "UnexpectedAnswer";
      if (whenLost === "ask" || isAnswered || this.#unknownOutcomes >= MOST_REPEATS) {
        return this.#ask(reason, []);
      }
      this.#run.waiting(step, `no answer, repeating the same request: ${reason}`);
      await sleep(this.#unknownOutcomes * 1_000);
      return "send";
    }
    const lost = Date.now();
    for (let wait = LOOK_AFTER_MS; ; wait *= 2) {
      this.#run.waiting(step, `no answer, looking it up: ${reason}`);
      const { found, lookedAt } = await this.#run.shielded(async () => {
        await sleep(wait);
        return {
          lookedAt: Date.now(),
          found: await lookUp(this.#request, this.#since, this.#keys),
        };
      });
      this.#tell(`looked up: ${found._tag}`);
      if (lookedAt - lost < found.certainAfterMs) continue;
      if (found._tag === "Found") return found.value;
      if (found._tag === "Unclear") return this.#ask(`${reason} ${found.reason}`, found.candidates);
      this.#isInDoubt = false;
      this.#run.notCarriedOut(this.#sending.step);
      return "send";
    }
  }

  async #ask(reason: string, candidates: Attention["candidates"]): Promise<A | "send"> {
    const resolution = await this.#run.ask(this.#sending.step, {
      ...this.#question(reason),
      candidates,
      actions: ["found", "resend", "abandon"],
    });
    if (!("found" in resolution)) {
      this.#isInDoubt = false;
      this.#run.notCarriedOut(this.#sending.step);
      return "send";
    }
    try {
      return await this.#sending.fromIds(resolution.found, this.#request);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // A mistyped id, say: it must not end the run, and the question stands.
      return this.#ask(`What was found is not it: ${rootCause(error).message}`, candidates);
    }
  }

  async #askToAmend(reason: string): Promise<"send"> {
    const isBound = this.#run.needsApproval;
    const resolution = await this.#run.ask(this.#sending.step, {
      ...this.#question(isBound ? `${reason} ${AMEND_BY_RETRY}` : reason),
      candidates: [],
      actions: isBound ? ["resend", "abandon"] : ["amend", "resend", "abandon"],
    });
    if (!("amend" in resolution)) return "send";
    const fault = await this.#amend(resolution);
    return fault === undefined ? "send" : this.#askToAmend(fault);
  }

  /** Takes an amendment; a refused request was not carried out, so its successor has a key of its own. */
  async #amend({
    amend,
  }: Extract<Resolution, { readonly amend: unknown }>): Promise<string | undefined> {
    const amended = { ...this.#request, ...amend };
    try {
      await this.#check(amended);
    } catch (error) {
      return rootCause(error).message;
    }
    this.#amendments += 1;
    this.#request = this.#fix(amended);
    return undefined;
  }

  /** Checks what an amended input came to, before it is sent. */
  async #checkAmended(): Promise<void> {
    try {
      await this.#check(this.#request);
    } catch (error) {
      if (!this.#isSentBefore) this.#run.settled(this.#sending.step);
      throw error;
    }
  }

  async #check(request: Request): Promise<void> {
    const { operation, step } = this.#sending;
    await localActivities.checkRequests([{ operation, input: request, at: step }]);
  }

  /** What is in doubt while it is not known what became of a send. */
  get #doubt(): StepInDoubt {
    const { operation, step } = this.#sending;
    return {
      step,
      operation,
      ...(this.#key !== undefined && { key: this.#key }),
      ...moneyOf(this.#request),
    };
  }

  #question(reason: string): Pick<Attention, "reason" | "sent" | "idsWanted"> {
    const { idsWanted, shown } = this.#sending;
    return { reason, sent: shown(this.#request), idsWanted };
  }

  #tell(what: string, reason?: string): void {
    this.#run.audit.add({
      who: "run",
      step: this.#sending.step,
      what,
      ...(this.#key !== undefined && { key: this.#key }),
      ...(reason !== undefined && { detail: { reason } }),
    });
  }
}
