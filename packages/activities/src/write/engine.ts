import { messageOf } from "@durable-payments/api-core/values";
import {
  advance,
  type Call,
  type Decision,
  type Effect as NextEffect,
  type JsonObject,
  type Ledger,
  type Look,
  MadeByAnother,
  type SendOutcome,
  type Verdict,
  type WriteEvent,
  type WriteName,
  type WritePolicy,
  type WriteRow,
} from "@durable-payments/ledger";
import { rowStep } from "@durable-payments/protocol";
import { failureTypes, type WriteAnswer, type WriteCall } from "@durable-payments/protocol/calls";
import { randomBytes } from "node:crypto";
import { type Attempt, Guard } from "./guard.ts";
import { isPaymentsError, type WriteOperation, type WriteOperations } from "./operation.ts";
import { growingWaitMs, waitAfterMs } from "./outcomes.ts";
import { NotYet, StepFailed } from "./ended-attempt.ts";
import { inputFault } from "./input-fault.ts";
import { keyOf, needsApproval } from "./request-fields.ts";

/** What the engine works with. */
export interface EngineOptions {
  readonly ledger: Ledger;
  /** Hash of the account. */
  readonly account: string;
  readonly operations: WriteOperations;
  /** Number of the worker's build. */
  readonly build: number;
  /** The worker, as the log of the ledger names it. */
  readonly who: string;
}

/** A write to be carried out: what the activity got, under the name of its operation. */
export interface WriteTask extends WriteCall {
  readonly operation: string;
}

/** Longest time that an attempt goes on without a result. */
const MOST_MS = 60_000;

/** Waits before the outcome of a send is written again, where the ledger did not answer. */
const WRITE_AGAIN_AFTER_MS = [100, 1_000, 5_000];

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Returns the name of the row of a step: that of a child holds the child's workflow id. */
export const rowNameOf = (
  account: string,
  workflowId: string,
  { rootId, step }: Pick<WriteCall, "rootId" | "step">,
): WriteName => ({ account, workflowId: rootId, step: rowStep(rootId, { workflowId, step }) });

/** Carries out one write, from what its row says until it is done, or time or a person has to help. */
class Performing {
  readonly #options: EngineOptions;
  readonly #attempt: Attempt;
  readonly #operation: WriteOperation;
  readonly #request: JsonObject | undefined;
  readonly #task: Partial<WriteTask>;
  readonly #deadline: number;
  #policy: WritePolicy;
  #call: Call;
  /** The same request was carried out under another step: a person is asked. */
  #elsewhere: ReadonlyArray<WriteRow> = [];
  #look: Look | undefined;
  #sends = 0;

  constructor(
    options: EngineOptions,
    attempt: Attempt,
    operation: WriteOperation,
    call: Call,
    task: Partial<WriteTask>,
  ) {
    this.#options = options;
    this.#attempt = attempt;
    this.#operation = operation;
    this.#policy = operation.policy(task);
    this.#call = call;
    this.#task = task;
    // A request is plain JSON.
    this.#request = task.request as JsonObject | undefined;
    this.#deadline = performance.now() + MOST_MS;
  }

  get #row(): WriteRow | undefined {
    return this.#look?.row;
  }

  get version(): number {
    return this.#row?.version ?? 0;
  }

  async run(): Promise<WriteAnswer> {
    this.#look = await this.#options.ledger.look(this.#call.name);
    await this.#prepare(this.#look);
    let effect = await this.#advance({ is: "called", call: this.#call });
    for (;;) {
      switch (effect.is) {
        case "send":
          effect = await this.#send(effect.generation, effect.isResend);
          break;
        case "reconcile":
          effect = await this.#reconcile();
          break;
        case "check":
          effect = await this.#check(effect.decision);
          break;
        case "again":
          effect = await this.#again(effect);
          break;
        case "wait":
          throw this.#notYet(effect.why, effect.at - this.#now, effect.isUnsent);
        case "person": {
          const { needs, question, why } = effect;
          const asked = question?.id ?? null;
          return { is: "waiting", needs, question: asked, why, version: this.version };
        }
        case "return": {
          const by = effect.knownBy === "answer" ? {} : { by: effect.knownBy };
          return { is: "done", made: { ...effect.result }, ...by };
        }
        case "fail":
          throw this.#failed(effect);
        // The answers to `dispatching`, which the guard takes.
        case "go":
        case "stop":
          throw new Error(`The ledger answered ${effect.is} to what was no dispatch.`);
      }
      if (performance.now() > this.#deadline) throw this.#notYet("It takes long.", 0, false);
    }
  }

  get #now(): number {
    return this.#look?.now ?? Date.now();
  }

  #notYet(why: string, delayMs: number, isUnsent: boolean): NotYet {
    const delay = Math.max(100, Math.round(delayMs));
    return new NotYet(why, delay, isUnsent ? this.version : undefined);
  }

  #failed({ details, message, type }: Extract<NextEffect, { is: "fail" }>): StepFailed {
    const isLimit = details["reason"] === "limit";
    return this.#fail(isLimit ? failureTypes.overLimit : type, message, details);
  }

  #fail(type: string, message: string, details: JsonObject = {}): StepFailed {
    const { operation } = this.#call;
    const { step } = this.#call.name;
    return new StepFailed(type, message, { ...details, operation, step, version: this.version });
  }

  /** Checks and reads everything that has to be known before a send, outside of any transaction. */
  async #prepare({ limits, row }: Look): Promise<void> {
    if (this.#call.mode !== "send") return;
    const mayBeSent =
      row === undefined ||
      row.state === "ready" ||
      row.state === "refused" ||
      row.state === "undone";
    const { isContinued = false, isNamed = true } = this.#task;
    if (isContinued && !isNamed) {
      const why =
        "has to be given: in a run that was continued every write needs a name of its own";
      throw this.#fail(failureTypes.invalidRequest, `${this.#call.operation}: step ${why}.`);
    }
    if (isContinued && row?.state === "done" && row.runId !== this.#call.runId) {
      const message = `An earlier run of this chain has carried out ${row.step}: each run needs a name of its own.`;
      throw this.#fail(failureTypes.alreadyCarriedOut, message, { id: row.madeId });
    }
    if (mayBeSent) {
      const invalid = await inputFault(
        { operation: this.#operation, request: this.#request ?? {} },
        this.#task.planned ?? [],
        { limits, operations: this.#options.operations },
      );
      if (invalid !== undefined) throw this.#fail(invalid.type, invalid.message);
      await this.#askApproval(limits);
    }
    await this.#findElsewhere(row);
  }

  async #askApproval(limits: Look["limits"]): Promise<void> {
    const { request } = this.#call;
    const why = needsApproval(request, this.#task.approveAbove, limits.approveAbove);
    if (why === undefined) return;
    const { payee } = this.#operation;
    const read = await this.#reading(async () => payee?.(this.#request ?? {}), true);
    const shown = read === undefined ? "" : ` It pays ${read.shown}.`;
    this.#call = {
      ...this.#call,
      approval: {
        why: `A second person has to approve it: ${why}.${shown}`,
        account: read?.mark ?? null,
      },
    };
  }

  /** Looks whether the step was renamed: then the same request may have been carried out under the other name. */
  async #findElsewhere(row: WriteRow | undefined): Promise<void> {
    const { name, operation, request, runId } = this.#call;
    const { claimed = [], isContinued = false, isFirst = false, isNamed = true } = this.#task;
    // A run that was continued names each of its writes: the same request each month is another one.
    if (isContinued && isNamed) return;
    const isNew = row === undefined || (row.sends === 0 && row.state === "unknown");
    if (isFirst || !isNew || this.#policy.repeat === "idempotent") return;
    if (this.#operation.name === "createBeneficiary" && this.#task.reuse !== false) return;
    const same = await this.#options.ledger.sameRequestElsewhere(name, operation, request.hash);
    const claimedSteps = new Set(claimed);
    this.#elsewhere = same.filter(
      (other) => other.runId !== runId && !claimedSteps.has(other.step),
    );
    if (this.#elsewhere.length === 0) return;
    // Whatever may be sent again: a person says first whether this is another one.
    this.#call = { ...this.#call, testimony: undefined };
    this.#policy = { ...this.#policy, repeat: "none", isListed: true };
  }

  /** Changes the row by what happened, in one transaction. */
  async #advance(event: WriteEventOf): Promise<NextEffect> {
    const { ledger, who } = this.#options;
    let effect: NextEffect | undefined;
    this.#look = await ledger.transact(this.#call.name, (look) => {
      const advanced = advance(look, { ...event, who }, this.#policy);
      effect = advanced.effect;
      return {
        ...(advanced.row !== undefined && { row: advanced.row }),
        entries: advanced.entries,
      };
    });
    if (effect === undefined) throw new Error("The ledger decided nothing.");
    return effect;
  }

  #again({ isKnown, reread }: Extract<NextEffect, { is: "again" }>): Promise<NextEffect> {
    this.#call = {
      ...this.#call,
      // What Temporal says serves one look and its dispatch: the ledger may be lost in between.
      testimony: isKnown ? { is: "version", version: this.version } : undefined,
      reread,
    };
    return this.#advance({ is: "called", call: this.#call });
  }

  async #send(generation: number, isResend: boolean): Promise<NextEffect> {
    const releases: Array<() => Promise<void>> = [];
    try {
      return await this.#sendOnce(generation, isResend, (release) => releases.push(release));
    } finally {
      // What is not given back runs out.
      await Promise.all(releases.map((release) => release().catch(() => undefined)));
    }
  }

  async #sendOnce(
    generation: number,
    isResend: boolean,
    afterwards: (release: () => Promise<void>) => void,
  ): Promise<NextEffect> {
    const { ledger, who } = this.#options;
    const { attempt, signal } = this.#attempt;
    if (signal.aborted) throw signal.reason;
    // A resend waits: whatever took the last answer may take this one, too.
    if (this.#sends > 0)
      throw this.#notYet("The last answer was lost.", growingWaitMs(attempt), false);
    this.#sends += 1;
    const token = `${this.#look?.epoch ?? 0}:${randomBytes(9).toString("base64url")}`;
    const call = this.#call;
    const policy = this.#policy;
    const guard = new Guard({ ledger, attempt: this.#attempt, call, policy, who, token });
    const key = keyOf(call.name, generation);
    const request = this.#request ?? {};
    let outcome: SendOutcome;
    try {
      outcome = await this.#operation.send({
        request,
        key,
        isResend,
        guard,
        options: this.#task,
        attempt,
        afterwards,
      });
    } catch (error) {
      if (!guard.mayHaveBegun) {
        if (signal.aborted) throw signal.reason;
        if (guard.blocked !== undefined) {
          return this.#notDispatched(token, generation, guard.blocked, 0);
        }
        if (!isPaymentsError(error)) throw error;
        throw this.#notYet(error.message, waitAfterMs(error, attempt), this.#isUnsent);
      }
      outcome =
        guard.blocked === undefined
          ? { is: "lost", message: messageOf(error) }
          : { is: "notDispatched", message: guard.blocked };
    }
    if (guard.mayHaveBegun) {
      const isStopped = guard.blocked !== undefined && outcome.is === "later";
      return this.#answered(
        token,
        generation,
        isStopped ? { is: "notDispatched", message: guard.blocked ?? "" } : outcome,
      );
    }
    // The client did not get as far as a dispatch, or was not permitted to.
    if (signal.aborted) throw signal.reason;
    if (guard.blocked !== undefined) {
      return this.#notDispatched(token, generation, guard.blocked, 0);
    }
    if (outcome.is === "later") {
      const { message, retryAfterMs = 0 } = outcome;
      return this.#notDispatched(token, generation, message, retryAfterMs);
    }
    if (outcome.is === "refused") {
      throw this.#fail(failureTypes.invalidRequest, outcome.message, outcome.details);
    }
    throw this.#notYet(`It was not sent (${outcome.is}).`, growingWaitMs(attempt), false);
  }

  /** Whether the row, as it was looked at, may still be left with nothing sent: the next attempt is told its version. */
  get #isUnsent(): boolean {
    const row = this.#row;
    if (row === undefined) return this.#call.testimony?.is === "none";
    return (
      row.doubt === 0 &&
      (row.state === "ready" || row.state === "refused") &&
      this.#call.testimony?.is === "version"
    );
  }

  /** What kept the client from a dispatch: time helps, or the row says what comes next. */
  async #notDispatched(
    token: string,
    generation: number,
    message: string,
    waitMs: number,
  ): Promise<NextEffect> {
    const effect = await this.#answered(token, generation, { is: "notDispatched", message });
    return effect.is === "wait"
      ? { ...effect, at: Math.max(effect.at, this.#now + waitMs) }
      : effect;
  }

  async #answered(token: string, generation: number, outcome: SendOutcome): Promise<NextEffect> {
    const call = this.#call;
    for (const waitMs of [...WRITE_AGAIN_AFTER_MS, undefined]) {
      try {
        return await this.#advance({ is: "answered", token, generation, outcome, call });
      } catch (error) {
        if (error instanceof MadeByAnother) {
          const message = `Its answer names what another write has made. ${error.message}`;
          const contradiction: SendOutcome = { is: "contradiction", message };
          return await this.#advance({
            is: "answered",
            token,
            generation,
            outcome: contradiction,
            call,
          });
        }
        if (waitMs === undefined) throw this.#notYet(messageOf(error), growingWaitMs(1), false);
        // The outcome is a fact that only this process has.
        await pause(waitMs);
      }
    }
    throw new Error("unreachable");
  }

  /** Reads the service; where it cannot be read, time helps. */
  async #reading<A>(read: () => Promise<A>, isUnsent = false): Promise<A> {
    const { attempt, signal } = this.#attempt;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort);
    try {
      if (signal.aborted) throw signal.reason;
      return await Promise.race([read(), aborted.promise]);
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const why = `The service could not be read: ${error.message}`;
      throw this.#notYet(why, waitAfterMs(error, attempt), isUnsent && this.#isUnsent);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #search(row: WriteRow | undefined): Promise<Verdict> {
    if (row === undefined) throw new Error("There is no row to look for.");
    if (this.#elsewhere.length > 0) {
      const steps = this.#elsewhere.map(({ madeId, step }) => `${step} (${madeId ?? "unknown"})`);
      return {
        is: "unclear",
        message: `An earlier run has the same request under another step: ${steps.join(", ")}. Was the step renamed?`,
        candidates: this.#elsewhere.flatMap(({ result }) => (result === null ? [] : [result])),
      };
    }
    const { search } = this.#operation;
    if (search === undefined) return { is: "absent" };
    return this.#reading(() => search(row, this.#now, this.#attempt.signal));
  }

  async #reconcile(): Promise<NextEffect> {
    const { version } = this;
    const readFrom = this.#now;
    const verdict = await this.#search(this.#row);
    try {
      return await this.#advance({ is: "evidence", version, readFrom, verdict });
    } catch (error) {
      // Between the reading of the owners and now.
      if (error instanceof MadeByAnother) throw this.#notYet(error.message, 1_000, false);
      throw error;
    }
  }

  async #check(decision: Decision): Promise<NextEffect> {
    const row = this.#row;
    if (row === undefined) throw new Error("There is no row to check.");
    const version = row.version;
    if (decision.kind !== "found") {
      // A person has said that it is another one.
      this.#elsewhere = [];
      // Whatever is listed by now counts: a person has waited long enough.
      const verdict = await this.#search({ ...row, until: 0 });
      return this.#advance({ is: "reread", version, decision, verdict });
    }
    const given = decision.value["id"];
    const id = typeof given === "string" ? given.trim() : "";
    const { account, operation } = row;
    const read = await this.#reading(async () => {
      const owner = (await this.#options.ledger.owners(account, operation, [id])).get(id);
      if (owner !== undefined && (owner.workflowId !== row.workflowId || owner.step !== row.step)) {
        const fault = `${owner.workflowId} (${owner.step}) has made ${id}.`;
        return { is: "fault" as const, fault };
      }
      return this.#operation.read(row, id, this.#request, this.#attempt.signal);
    });
    const result: JsonObject = read.is === "fits" ? { ...read.result } : {};
    const fault = read.is === "fits" ? undefined : read.fault;
    return this.#advance({ is: "checked", version, decision, id, result, fault });
  }
}

/** An event without who brings it. */
type WriteEventOf = WriteEvent extends infer Event
  ? Event extends WriteEvent
    ? Omit<Event, "who">
    : never
  : never;

/**
 * Carries out a write: looks at its row, and does what the ledger says until it is done, or time or a person has to
 * help. It may be called again and again, by any number of attempts at once.
 *
 * @throws NotYet where time helps; StepFailed where the step fails; LedgerUnavailable.
 */
export const performWrite = async (
  options: EngineOptions,
  attempt: Attempt,
  task: WriteTask,
): Promise<WriteAnswer> => {
  const operation = options.operations.get(task.operation);
  const name = rowNameOf(options.account, attempt.workflowId, task);
  if (operation === undefined) {
    const { step } = name;
    const message = `The worker does not know the operation ${task.operation}.`;
    const details = { operation: task.operation, step, version: 0 };
    throw new StepFailed(failureTypes.invalidRequest, message, details);
  }
  const call: Call = {
    name,
    operation: task.operation,
    // A request is plain JSON.
    request: operation.describe(task.request as JsonObject),
    runId: attempt.runId,
    testimony: attempt.testimony,
    mode: task.mode ?? "send",
    mayAmend: task.isNamed,
    approval: undefined,
    build: options.build,
  };
  return new Performing(options, attempt, operation, call, task).run();
};

/**
 * Finds out what became of a row whose run has ended: reads the list, and sends nothing.
 *
 * @param mode `close` for a run that goes on, `settle` for one that has ended.
 * @returns the answer; undefined where there is no such row.
 * @throws as `performWrite`.
 */
export const settleRow = async (
  options: EngineOptions,
  attempt: Attempt,
  name: WriteName,
  mode: "close" | "settle" = "settle",
): Promise<WriteAnswer | undefined> => {
  const { row } = await options.ledger.look(name);
  const operation = row && options.operations.get(row.operation);
  if (row === undefined || operation === undefined) return undefined;
  const call: Call = {
    name,
    operation: row.operation,
    request: row.request,
    runId: mode === "settle" ? row.runId : attempt.runId,
    testimony: undefined,
    mode,
    mayAmend: false,
    approval: undefined,
    build: options.build,
  };
  return new Performing(options, attempt, operation, call, {}).run();
};
