import type { JournalSend } from "@durable-payments/activities";
import { asSentence, type HumanTask, likenessText, textAt } from "@durable-payments/protocol";
import { sleep, workflowInfo } from "@temporalio/workflow";
import { otherInDoubt } from "../run/in-doubt.ts";
import type { RunState } from "../run/run-state.ts";
import { foundOfEarlierRun } from "./earlier-runs.ts";
import { askPerson, type Evidence } from "./ask-person.ts";
import { describeFound } from "./describe-send.ts";
import { recordFound } from "./ownership.ts";
import { listReadOf, type Reconciled, reconcileWrite, type Seen } from "./reconcile.ts";
import type { Reconciler, Write } from "./write.ts";
import type { WriteState } from "./write-state.ts";

/** Resends of a request that may be sent again as it is, before a person is asked. */
const MOST_RESENDS = 5;

/** Times that a send is found to be absent and made again, before a person is asked. */
const MOST_ABSENT = 3;

/** Events of a history, before a person is asked how to go on: a tenth of the server's limit. */
const MOST_EVENTS = 5_000;

/** Failures of a send that its worker itself has reported: it sends no more. */
const REPORTED = new Set(["OutcomeUnknown", "UnexpectedAnswer"]);

/** What is known of what earlier runs may have sent. */
export interface EarlierSendsKnown {
  /** Whether what is found is the result; otherwise nothing says that this run has sent it. */
  readonly isOwn: boolean;
  /** Why what was known of it is not it, for a person. */
  readonly whyNot?: string;
}

/** Finds out what became of the sends of a write: by the service's list; where that does not tell, by a person. */
export class OutcomeFinder<Request extends object, A> {
  readonly #run: RunState;
  readonly #write: Write<Request, A>;
  readonly #state: WriteState<Request>;
  /** What was listed that may be what was sent, by its id. */
  readonly #seen = new Map<string, Seen<A>>();
  #unknownOutcomes = 0;
  /** Whether what is listed is another payment: nothing says that this run has sent it. */
  #isUnsent = false;
  #absent = 0;
  #askBeyondEvents = MOST_EVENTS;

  constructor(run: RunState, write: Write<Request, A>, state: WriteState<Request>) {
    this.#run = run;
    this.#write = write;
    this.#state = state;
  }

  /** Whether nobody knows what became of a send, so that a refusal of the next one does not say it either. */
  get hasUnknownSends(): boolean {
    return this.#unknownOutcomes > 0;
  }

  /** Whether the next send repeats one of which the answer was lost. */
  get isResend(): boolean {
    return this.#unknownOutcomes > 0 || this.#absent > 0;
  }

  /** A send may have made something that this run does not know. */
  markInDoubt(): void {
    this.#unknownOutcomes += 1;
    this.#isUnsent = false;
    this.#state.markInDoubt();
  }

  /**
   * Find out what became of what an earlier run may have sent.
   *
   * @throws SentByEarlierRun where the service shows something that nothing says this run has sent.
   */
  reconcileEarlierSends({ isOwn, whyNot }: EarlierSendsKnown): Promise<A | "send"> {
    this.markInDoubt();
    // With a list, "absent" is known of the send before: the refusal of a resend is a refusal.
    if (this.#write.reconciler !== undefined) this.#unknownOutcomes = 0;
    const said = whyNot === undefined ? "" : ` ${whyNot}`;
    this.#isUnsent = !isOwn;
    return this.reconcile(`An earlier run of this workflow may have sent it.${said}`, "");
  }

  /**
   * Find out whether a send without an answer was carried out.
   *
   * @param type of its failure.
   */
  async reconcile(reason: string, type: string): Promise<A | "send"> {
    const { keyLifetimeMs = Infinity, reconciler, step, whenLost } = this.#write;
    // A service that answers with what is another's may list it so, too.
    if (type === "AnswerContradicts") return this.ask(reason);
    if (reconciler === undefined) {
      // The service answered, and its answer does not say what a resend would not say either.
      const isAnswered = type === "UnexpectedAnswer";
      const isForgotten = Date.now() - this.#state.since > keyLifetimeMs;
      if (isForgotten) {
        return this.ask(`${asSentence(reason)} The service may not know its key any more.`);
      }
      if (whenLost === "ask" || isAnswered || this.#unknownOutcomes >= MOST_RESENDS) {
        return this.ask(reason);
      }
      this.#run.waiting(step, `no answer, sending the same request again: ${reason}`);
      await sleep(this.#unknownOutcomes * 1_000);
      return "send";
    }
    const found = await this.#readList(reconciler, this.#state.request, type, {
      about: `no answer, reconciling it with the service's list: ${reason}`,
      ifAbsent: this.#absent < MOST_ABSENT ? "it is sent again" : "a person is asked",
    });
    const listRead = listReadOf(found);
    if (found._tag === "Found") {
      if (this.#isUnsent) {
        this.#state.markNotCarriedOut();
        throw foundOfEarlierRun(step, this.#write.ids(found.value));
      }
      const owner = await recordFound(this.#run, this.#write, found.value);
      if (owner === undefined) {
        if (!found.isProved) this.#noteLikeness(reconciler.shown(found.value));
        return found.value;
      }
      return this.ask(
        `${asSentence(reason)} One is listed as it was sent, and ${owner} has taken it.`,
      );
    }
    if (found._tag === "Unclear") {
      const { candidates } = found;
      return this.ask(`${asSentence(reason)} ${found.reason}`, { candidates, listRead });
    }
    this.#absent += 1;
    this.#state.markNotCarriedOut();
    return this.#absent > MOST_ABSENT
      ? this.ask(`${asSentence(reason)} It was sent ${this.#absent} times, and is not listed.`, {
          listRead,
        })
      : this.sendAgain(reason);
  }

  /**
   * What was sent before was another request, and nobody knows what became of it. The journal keeps of
   * a request what it moves and its key: the list is searched by these, and only the key is proof.
   */
  async reconcileOtherRequest(other: JournalSend, about: string): Promise<A | "send"> {
    this.#state.other = other;
    this.#state.recordInDoubt();
    const { reconciler } = this.#write;
    const asSent = reconciler?.asSent?.(this.#state.request, other);
    if (reconciler === undefined || asSent === undefined) return this.ask(about);
    const type = other.outcome === "begun" ? "" : "OutcomeUnknown";
    const found = await this.#readList(reconciler, asSent, type, {
      about: `reconciling what was sent before: ${about}`,
      ifAbsent: "a person is asked",
    });
    const { text, ...shown } = describeFound(found, other, reconciler.shown);
    return this.ask(`${about} ${text}`, { ...shown, listRead: listReadOf(found) });
  }

  /**
   * Send again what was not carried out, or ask a person where that was tried so often that the server would end
   * the run for the length of its history.
   */
  sendAgain(reason: string): Promise<A | "send"> | "send" {
    const { historyLength } = workflowInfo();
    if (historyLength < this.#askBeyondEvents) return "send";
    this.#askBeyondEvents = historyLength + MOST_EVENTS / 5;
    return this.ask(`It was sent in vain very often, so that the history grows: ${reason}`);
  }

  /** Ask a person what became of it; what was listed until then counts no more once it is sent again. */
  async ask(
    reason: string,
    { candidates = [], canResend = true, listRead }: Evidence = {},
  ): Promise<A | "send"> {
    const { isInDoubt, other, request, since } = this.#state;
    const decided = await askPerson(this.#run, this.#write, {
      reason,
      candidates,
      listRead,
      canResend,
      other,
      isInDoubt,
      request,
      since,
    });
    if (decided !== "send") return decided;
    // Who decided was shown what was listed, and that it is not this.
    this.#seen.clear();
    this.#state.markNotCarriedOut();
    this.#state.other = undefined;
    if (other !== undefined) this.#leaveInDoubt(other);
    return "send";
  }

  /** Something is sent beside an earlier send of another request, which may have been carried out. */
  #leaveInDoubt(other: JournalSend): void {
    const left = otherInDoubt(this.#write, other);
    this.#run.sends.leavesInDoubt(left);
    // What it made is not taken for what is sent now, and a refusal is none of a resend.
    this.#state.sentUnder(undefined);
    this.#unknownOutcomes = 0;
    if (this.#state.isKey(left.key)) this.#state.makeAnew(other.number);
  }

  /** Whoever reads the result has to know that it may be somebody else's. */
  #noteLikeness(shown: HumanTask["candidates"][number]): void {
    const { operation, step } = this.#write;
    const { since: sentFrom } = this.#state;
    const text = likenessText(operation, { createdAt: textAt(shown, "create_time"), sentFrom });
    this.#run.note(`${step}: ${text}`);
    this.#run.audit.add({ who: "run", step, what: text });
  }

  #readList(
    reconciler: Reconciler<Request, A>,
    request: Request,
    type: string,
    said: { readonly about: string; readonly ifAbsent: "it is sent again" | "a person is asked" },
  ): Promise<Reconciled<A>> {
    return reconcileWrite(this.#run, this.#write, reconciler, {
      ...said,
      request,
      since: this.#state.since,
      keys: this.#state.keys,
      isWorkerLost: !REPORTED.has(type),
      seen: this.#seen,
      log: (reconciliation) => this.#state.log(`reconciled: ${reconciliation}`),
    });
  }
}
