import type { WriteRow } from "@durable-payments/ledger";
import { answer, approve, reject } from "@durable-payments/operations/decide";
import { isOperationError } from "@durable-payments/operations/errors";
import { delay } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import { madeBy } from "../evidence/evidence.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { ignoreUnavailable, type ServiceLedger } from "../service/service.ts";
import type { Tally } from "../tally.ts";

const EVERY_MS = 1_000;

/** How long a person takes; by then what was on its way has arrived. */
const THINKS_MS = 4_000;

const WRONG_SHARE = 0.15;

const ACTING = { by: "linus", how: "--by", reason: "looked at the bank" } as const;
/** A person who has sent a payment again does not approve it. */
const APPROVING = { ...ACTING, by: "margaret" } as const;

/** Removes undone records, which no question is about: the service does not list them any more. */
const withoutUndone = (truth: ServiceLedger): ServiceLedger => ({
  ...truth,
  cardholders: truth.cardholders.filter(({ removed }) => !removed),
  cards: truth.cards.filter(({ card_status }) => card_status !== "cancelled"),
});

/** A person who answers what runs ask by what the bank says on the telephone, which is the truth. */
export class Answers {
  readonly #environment: Environment;
  readonly #runs: ReadonlyMap<string, PlannedRun>;
  readonly #random: Random;
  readonly #onEnd: (workflowId: string) => void;
  /** Questions by their ids: what was asked. */
  readonly #asked = new Map<string, string>();
  readonly #answered = new Set<string>();
  readonly #tally: Tally;

  constructor(
    environment: Environment,
    runs: ReadonlyArray<PlannedRun>,
    seed: number,
    tally: Tally,
    onEnd: (workflowId: string) => void,
  ) {
    this.#environment = environment;
    this.#runs = new Map(runs.map((run) => [run.workflowId, run]));
    this.#random = new Random(seed, "answers");
    this.#tally = tally;
    this.#onEnd = onEnd;
  }

  /** How often a person was asked for the outcome of a write, by the reason. */
  get questions(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const asked of this.#asked.values()) counts[asked] = (counts[asked] ?? 0) + 1;
    return counts;
  }

  /** After a restore of the ledger, runs ask again what was answered since. */
  forget(): void {
    this.#answered.clear();
  }

  async answerUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const rows = await this.#environment.operate(
        ({ ledger }) => ledger.rows({ needsPerson: true, limit: 10_000 }),
        signal,
      );
      await this.#answerAll(rows ?? [], signal).catch(ignoreUnavailable);
      await delay(EVERY_MS, signal);
    }
  }

  async #answerAll(rows: ReadonlyArray<WriteRow>, signal: AbortSignal): Promise<void> {
    for (const row of rows) {
      const { question } = row;
      const run = this.#runs.get(row.workflowId);
      if (question === null || run === undefined || signal.aborted) continue;
      if (question.kind === "outcome") {
        this.#asked.set(
          question.id,
          `${row.operation}: ${question.reason.replaceAll(/\d[\w.:-]*/g, "…")}`,
        );
      }
      if (this.#answered.has(question.id) || Date.now() - question.since < THINKS_MS) continue;
      if (question.kind === "approval") await this.#approve(run, row, signal);
      else await this.#answer(run, row, signal);
    }
  }

  async #approve(run: PlannedRun, row: WriteRow, signal: AbortSignal): Promise<void> {
    const { workflowId } = row;
    const isRejected = run.kind !== "onboarding" && run.approval === "reject";
    const given = { ...APPROVING, question: row.question?.id };
    await this.#decide(row, isRejected ? "reject" : "approve", signal, (operations) =>
      (isRejected ? reject : approve)(operations, workflowId, given),
    );
    if (isRejected) this.#onEnd(workflowId);
  }

  async #answer(run: PlannedRun, row: WriteRow, signal: AbortSignal): Promise<void> {
    const { question, workflowId } = row;
    if (question === null) return;
    const truth = await this.#environment.service.ledger();
    const isEnded = run.intervention?.kind === "end by answer";
    const made = isEnded ? undefined : madeBy(row, run, withoutUndone(truth)).at(-1);
    // To a beneficiary that a restored ledger has forgotten: it does not fit, and nobody pays it a second time.
    const isToAnother = truth.payouts.some(
      ({ beneficiary_id, payout_id }) => payout_id === made && beneficiary_id !== row.request.payee,
    );
    const others = truth.payouts.filter(({ payout_id }) => payout_id !== made);
    const wrong = others[this.#random.int(0, Math.max(0, others.length - 1))]?.payout_id;
    const mayBeWrong = row.operation === "createPayout" && !isEnded && wrong !== undefined;
    const isWrong = this.#random.chance(WRONG_SHARE) && mayBeWrong;
    const right = isEnded || isToAnother ? "end" : made === undefined ? "resend" : "found";
    const choose = isWrong ? "found" : right;
    await this.#decide(row, isWrong ? "wrong" : choose, signal, (operations) =>
      answer(operations, workflowId, {
        ...ACTING,
        choose,
        question: question.id,
        ...(choose === "found" && { found: isWrong ? wrong : made }),
      }),
    );
    if (choose === "end") this.#onEnd(workflowId);
  }

  async #decide(
    { question }: WriteRow,
    choice: string,
    signal: AbortSignal,
    act: Parameters<Environment["operate"]>[0],
  ): Promise<void> {
    try {
      await this.#environment.operate(act, signal);
      this.#tally.add(`answered: ${choice}`);
    } catch (error) {
      // The question was answered by a late answer, or replaced by another one.
      if (!isOperationError(error)) throw error;
      this.#tally.add("answer refused");
    }
    if (question !== null) this.#answered.add(question.id);
  }
}
