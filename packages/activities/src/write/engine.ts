/*
 * Performs one attempt of a write: the loop between the ledger, which decides, and the service.
 *
 * An attempt decides nothing about a write. It brings an event, performs the action that `advance` returns, and brings
 * the next event. So any number of attempts may run at once, also on frozen workers: each change is one transaction of
 * the ledger.
 *
 * The order of a send is not obvious. `called` only plans it. The client signs in and connects, and then calls back: the
 * guard asks `dispatching` at the last moment before the first byte. See the picture in
 * docs/contributors/architecture.md.
 */
import { isPaymentsError } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import {
  advance,
  type Call,
  type Decision,
  type WriteAction,
  type JsonObject,
  type Look,
  grownWait,
  MadeByAnother,
  type SendOutcome,
  type Verdict,
  type WriteHappening,
  type WritePolicy,
  type WriteRow,
} from "@durable-payments/ledger";
import { CANCELLED, failureTypes, type WriteAnswer } from "@durable-payments/protocol/calls";
import { randomBytes } from "node:crypto";
import { orAborted } from "../run-operation.ts";
import { dispatchOnce, writeAgain } from "./dispatch.ts";
import { advanceRow, Guard } from "./guard.ts";
import type { Given } from "./operation.ts";
import { NotYet, StepFailed, waitAfterMs } from "./outcomes.ts";
import { keyOf, prepare, readNamed, renamed, requestOf } from "./request.ts";

/** Longest time that an attempt continues without a result. */
const MOST_MS = 60_000;

/** Actions after which the attempt continues. */
const CONTINUES: ReadonlySet<WriteAction["is"]> = new Set(["send", "reconcile", "check", "again"]);

/** Performs one write until it is done, or until time or a person has to help. */
export class Performing {
  readonly #given: Given;
  readonly #deadline = performance.now() + MOST_MS;
  #policy: WritePolicy;
  #call: Call;
  /** The same request succeeded under another step: a person is asked. */
  #elsewhere: ReadonlyArray<WriteRow> = [];
  #look: Look | undefined;
  #sends = 0;

  constructor(given: Given) {
    this.#given = given;
    this.#policy = given.operation.policy(given.task);
    this.#call = given.call;
  }

  get #row(): WriteRow | undefined {
    return this.#look?.row;
  }

  get version(): number {
    return this.#row?.version ?? 0;
  }

  async run(): Promise<WriteAnswer> {
    this.#look = await this.#given.options.ledger.look(this.#call.name, this.#call);
    await this.#prepare(this.#look);
    let action = await this.#called();
    for (;;) {
      switch (action.is) {
        case "send":
          action = await this.#send(action.generation, action.isResend);
          break;
        case "reconcile":
          action = await this.#reconcile();
          break;
        case "check":
          action = await this.#check(action.decision);
          break;
        case "again":
          action = await this.#again(action);
          break;
        case "wait":
          throw this.#notYet(action.why, action.at - this.#now, action.isUnsent);
        case "person": {
          const { needs, question, why } = action;
          this.#leaveToOwner(why);
          const asked = question?.id ?? null;
          return { is: "waiting", needs, question: asked, why, version: this.version };
        }
        case "return": {
          const { knownBy } = action;
          const by = knownBy === "answer" || knownBy === "ledger" ? {} : { by: knownBy };
          const { idField } = this.#given.operation;
          return { is: "done", made: { [idField]: action.id, ...action.result }, ...by };
        }
        case "fail": {
          const { details, message, type } = action;
          const isLimit = details["reason"] === "limit";
          throw this.#fail(isLimit ? failureTypes.overLimit : type, message, details);
        }
        // The answers to `dispatching`, which the guard takes.
        case "go":
        case "stop":
          throw new Error(
            `The ledger returned ${action.is}, although nothing was to be dispatched.`,
          );
      }
      if (CONTINUES.has(action.is) && performance.now() > this.#deadline)
        throw this.#notYet("It is taking a long time.", 0, false);
    }
  }

  get #now(): number {
    return this.#look?.now ?? Date.now();
  }

  readonly #notYet = (why: string, delayMs: number, isUnsent: boolean): NotYet =>
    new NotYet(why, Math.max(100, Math.round(delayMs)), isUnsent ? this.version : undefined);

  readonly #fail = (type: string, message: string, details: JsonObject = {}): StepFailed => {
    const { operation } = this.#call;
    const { step, workflowId } = this.#call.name;
    const at = { operation, workflowId, step, version: this.version };
    return new StepFailed(type, message, { ...details, ...at });
  };

  /** Another workflow has asked for the same key, and a person is asked in its name: it is nudged, and this one is not. */
  #leaveToOwner(why: string): void {
    const { mode, ownerId } = this.#call;
    if ((this.#row?.ownerId ?? ownerId) === ownerId) return;
    if (mode === "close") throw this.#fail(CANCELLED, `Cancelled while it waited: ${why}`);
    throw this.#notYet(why, grownWait(this.#given.attempt.attempt), false);
  }

  async #prepare(look: Look): Promise<void> {
    const { disagreement } = this.#given.options;
    const { attempt, signal } = this.#given.attempt;
    const { believed = [] } = this.#given.task;
    const { decisions, end, row } = look;
    const { id, reason } = row?.question ?? {};
    const isAnswered = end !== undefined || decisions.some(({ question }) => question === id);
    if (reason !== undefined && !isAnswered) this.#leaveToOwner(reason);
    if (this.#call.mode !== "send") return;
    const why = await this.#reading(
      () => disagreement(believed, this.#given.attempt, signal),
      true,
    );
    if (why !== undefined) throw this.#notYet(why, grownWait(attempt), this.#isUnsent);
    const { elsewhere, read } = await prepare({
      ...this.#given,
      call: this.#call,
      look,
      reading: (reading) => this.#reading(reading, true),
      fail: this.#fail,
    });
    this.#call = { ...this.#call, ...read };
    this.#elsewhere = elsewhere;
    if (elsewhere.length === 0) return;
    // Before a resend, a person says whether this is another write.
    this.#call = { ...this.#call, testimony: undefined };
    this.#policy = { ...this.#policy, repeat: "none", isListed: true };
  }

  async #advance(event: WriteHappening): Promise<WriteAction> {
    const { ledger, who } = this.#given.options;
    const { action, look } = await advanceRow(
      ledger,
      this.#call.name,
      { ...event, who },
      this.#policy,
      this.#given.attempt,
      this.#call,
    );
    this.#look = look;
    return action;
  }

  #again({
    isKnown,
    reread,
  }: Extract<WriteAction, { is: "again" }>): WriteAction | Promise<WriteAction> {
    this.#call = {
      ...this.#call,
      // Temporal's testimony holds for one reading and its dispatch: the ledger may be lost between two readings.
      testimony: isKnown ? { is: "version", version: this.version } : undefined,
      reread,
    };
    return this.#called();
  }

  /** Without a change, no transaction is needed: the look is recent, and the fence decides again. */
  #called(): WriteAction | Promise<WriteAction> {
    const event = { is: "called", call: this.#call } as const;
    if (this.#look === undefined) return this.#advance(event);
    const seen = advance(this.#look, { ...event, who: this.#given.options.who }, this.#policy);
    const isChange = seen.row !== undefined || seen.entries.length > 0;
    return isChange ? this.#advance(event) : seen.action;
  }

  async #send(generation: number, isResend: boolean): Promise<WriteAction> {
    const { attempt, signal } = this.#given.attempt;
    if (signal.aborted) throw signal.reason;
    // A resend waits: the cause of the lost response may still be there.
    if (this.#sends > 0)
      throw this.#notYet("The last response was lost.", grownWait(attempt), false);
    this.#sends += 1;
    const row = this.#row;
    const token = `${this.#look?.epoch ?? 0}:${randomBytes(9).toString("base64url")}`;
    const given = { ...this.#given.options, ...this.#given, call: this.#call };
    const guard = new Guard({ ...given, policy: this.#policy, token });
    const releases: Array<() => Promise<unknown>> = [];
    try {
      const [outcome, waitMs] = await dispatchOnce(
        this.#given.operation.send,
        {
          guard,
          attempt,
          options: this.#given.task,
          request: requestOf(this.#given.task) ?? {},
          key: keyOf(this.#call.name, generation),
          isResend,
          sentForMs: row === undefined || row.sends === 0 ? undefined : this.#now - row.createdAt,
          afterwards: (release) => releases.push(release),
        },
        { notYet: this.#notYet, fail: this.#fail, isUnsent: this.#isUnsent },
      );
      const action = await this.#answered(token, generation, outcome);
      if (action.is !== "wait") return action;
      const grownMs = outcome.is === "later" ? grownWait(this.#row?.sends ?? 1) : waitMs;
      return { ...action, at: Math.max(action.at, this.#now + grownMs) };
    } finally {
      // A lease that is not released expires.
      await Promise.allSettled(releases.map((release) => release()));
    }
  }

  /** Whether nothing of the row was sent: then the next attempt receives its version. */
  get #isUnsent(): boolean {
    const row = this.#row;
    if (row === undefined) return this.#call.testimony?.is === "none";
    return (
      row.doubt === 0 &&
      (row.state === "ready" || row.state === "refused") &&
      this.#call.testimony?.is === "version"
    );
  }

  async #answered(token: string, generation: number, outcome: SendOutcome): Promise<WriteAction> {
    const call = this.#call;
    const write = (became: SendOutcome) =>
      this.#advance({ is: "answered", token, generation, outcome: became, call });
    try {
      return await writeAgain(() => write(outcome));
    } catch (error) {
      if (!(error instanceof MadeByAnother)) {
        throw this.#notYet(messageOf(error), grownWait(1), false);
      }
      const message = `Its response names the result of another write. ${error.message}`;
      return write({ is: "contradiction", message });
    }
  }

  /** Reads the service; if it cannot be read, time helps. */
  async #reading<A>(read: () => Promise<A>, isUnsent = false): Promise<A> {
    const { attempt, signal } = this.#given.attempt;
    try {
      return await orAborted(read, signal);
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const why = `The service could not be read: ${error.message}`;
      throw this.#notYet(why, waitAfterMs(error, attempt), isUnsent && this.#isUnsent);
    }
  }

  async #search(row: WriteRow | undefined): Promise<Verdict> {
    if (row === undefined) throw new Error("There is no row to reconcile.");
    if (this.#elsewhere.length > 0) return renamed(this.#elsewhere);
    const { search } = this.#given.operation;
    if (search === undefined) return { is: "absent" };
    return this.#reading(() => search(row, this.#now, this.#given.attempt.signal));
  }

  async #reconcile(): Promise<WriteAction> {
    const { version } = this;
    const readFrom = this.#now;
    const verdict = await this.#search(this.#row);
    return this.#found((seen) => ({ is: "evidence", version, readFrom, verdict: seen }), verdict);
  }

  /**
   * Applies a verdict to the row. If a row with our key belongs to another write, a person decides; a mere likeness is
   * read again.
   */
  async #found(
    event: (verdict: Verdict) => WriteHappening,
    verdict: Verdict,
  ): Promise<WriteAction> {
    try {
      return await this.#advance(event(verdict));
    } catch (error) {
      if (!(error instanceof MadeByAnother) || verdict.is !== "found") throw error;
      if (verdict.by !== "key") throw this.#notYet(error.message, 1_000, false);
      const message = `The service shows ${verdict.id} for this step. ${error.message}`;
      return this.#advance(event({ is: "unclear", message, candidates: [verdict.result] }));
    }
  }

  async #check(decision: Decision): Promise<WriteAction> {
    const row = this.#row;
    if (row === undefined) throw new Error("There is no row to check.");
    const version = row.version;
    if (decision.kind !== "found") {
      // A person has answered that it is another write.
      this.#elsewhere = [];
      // Every row listed now counts: a person has waited long enough.
      const read = await this.#search({ ...row, until: 0 });
      const nextAt = this.#now + grownWait(this.#given.attempt.attempt);
      const verdict = read.is === "later" ? { ...read, at: Math.min(read.at, nextAt) } : read;
      return this.#found((seen) => ({ is: "reread", version, decision, verdict: seen }), verdict);
    }
    const { id: named } = decision.value;
    const id = typeof named === "string" ? named.trim() : "";
    const read = await this.#reading(() => readNamed(this.#given, row, id));
    const result: JsonObject = read.is === "fits" ? { ...read.result } : {};
    const fault = read.is === "fits" ? undefined : read.fault;
    return this.#advance({ is: "checked", version, decision, id, result, fault });
  }
}
