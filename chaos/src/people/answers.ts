import type { WriteRow } from "@durable-payments/ledger";
import type { Connected } from "@durable-payments/control/connection";
import { decideBatch } from "@durable-payments/control/batch";
import { answer, approve, reject } from "@durable-payments/control/decide";
import { approvalsOf } from "@durable-payments/control/show";
import type { Campaign } from "../campaign.ts";
import { delay } from "../delay.ts";
import { madeBy } from "../evidence/evidence.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { COMPLETED_WORD, ignoreUnavailable } from "../service/service.ts";
import { attempt } from "./attempt.ts";

const EVERY_MS = 1_000;

/** How long a person takes; by then what was on its way has arrived. */
const THINKS_MS = 4_000;

/** Then a question that is still open is answered once more. */
const AGAIN_AFTER_MS = 15_000;

const WRONG_SHARE = 0.15;

const ACTING = { by: "linus", how: "--by", reason: "looked at the bank" } as const;
/** A person who has sent a payment again does not approve it. */
const APPROVING = { ...ACTING, by: "margaret" } as const;

/** Returns the hash of what waits for approval. It is gone if somebody was faster. */
const read = async (
  { ledger }: Connected,
  id: string,
  asked: string | null = null,
): Promise<string> => {
  const items = await approvalsOf(ledger, id);
  return items.find(({ question }) => question === asked)?.hash ?? "gone";
};

/** A person who answers what runs ask by what the bank says on the telephone, which is the truth. */
export const makeAnswers = (campaign: Campaign) => {
  const { approved, ended, environment, operate, runs, seed, signal, tally } = campaign;
  const byId = new Map(runs.map((run) => [run.workflowId, run]));
  const random = new Random(seed, "answers");
  // The id of a question is unique within its workflow id.
  const keyOf = ({ question, workflowId }: WriteRow) => `${workflowId} ${question?.id}`;
  /** Questions by their keys: what was asked. */
  const asked = new Map<string, string>();
  /** When a question was answered: an approval that a change of the limits has made void is given again. */
  const answered = new Map<string, number>();

  const decide = async (
    choice: string,
    act: (operations: Connected) => Promise<unknown>,
    row?: WriteRow,
  ): Promise<void> => {
    const done = await attempt(campaign, async (operations) => {
      await act(operations);
      return true;
    });
    // A late answer was faster, another question has replaced it, or the ledger was restored meanwhile. If the question
    // remains, the person answers again.
    tally.add(done === true ? `answered: ${choice}` : "answer refused");
    if (done === true && row !== undefined) answered.set(keyOf(row), Date.now());
  };

  const decideApproval = async (run: PlannedRun, row: WriteRow): Promise<void> => {
    const { workflowId } = row;
    const isRejected = run.approval === "reject";
    const given = { ...APPROVING, question: row.question?.id };
    // Before, because the money may be sent at once.
    if (!isRejected) approved.push({ workflowId, amount: row.request.amount ?? "" });
    const act = async (operations: Connected) =>
      isRejected
        ? reject(operations, workflowId, given)
        : approve(operations, workflowId, {
            ...given,
            hash: await read(operations, workflowId, given.question),
          });
    await decide(isRejected ? "reject" : "approve", act, row);
    if (isRejected) ended.set(workflowId, Date.now());
  };

  const decideOutcome = async (run: PlannedRun, row: WriteRow): Promise<void> => {
    const { workflowId } = row;
    const truth = await environment.serviceOf(run).ledger();
    const isEnded = run.intervention?.kind === "end by answer";
    const payouts = truth.made.filter((one) => one.operation === "createPayout");
    // No question is about an undone write: the service does not list it any more.
    const listed = truth.made.filter((one) => !one.isUndone || payouts.includes(one));
    const made = isEnded ? undefined : madeBy(row, run, { ...truth, made: listed }).at(-1);
    // Nobody can tell an equal payment from its own: only one to another payee is certainly refused.
    const others = payouts.filter(({ payee }) => payee !== row.request.payee);
    // To a beneficiary that a restored ledger has forgotten: it does not fit, and nobody pays it a second time.
    const isToAnother = others.some(({ id }) => id === made);
    const wrong = others[random.int(0, Math.max(0, others.length - 1))]?.id;
    const mayBeWrong = row.operation === "createPayout" && !isEnded && wrong !== undefined;
    const isWrong = random.chance(WRONG_SHARE) && mayBeWrong;
    const known = await operate(({ ledger }) => ledger.runs({ workflowIds: [workflowId] }));
    // Nothing is sent again under an id that was stopped.
    const isStopped = known?.some((one) => one.isStopped) === true;
    const isGivenUp = isEnded || isToAnother || (made === undefined && isStopped);
    const right = isGivenUp ? "end" : made === undefined ? "resend" : "found";
    const choose = isWrong ? "found" : right;
    const given = {
      ...ACTING,
      choose,
      question: row.question?.id ?? "",
      ...(choose === "found" && { found: isWrong ? wrong : made }),
    } as const;
    const said = isWrong ? "wrong" : choose;
    await decide(said, (operations) => answer(operations, workflowId, given), row);
    if (choose === "end") ended.set(workflowId, Date.now());
  };

  const answerAll = async (rows: ReadonlyArray<WriteRow>): Promise<void> => {
    for (const row of rows) {
      const { operation, question } = row;
      const run = byId.get(row.workflowId);
      if (question === null || run === undefined || signal.aborted) continue;
      if (question.kind === "outcome") {
        asked.set(keyOf(row), `${operation}: ${question.reason.replaceAll(/\d[\w.:-]*/g, "…")}`);
      }
      const isAnswered = Date.now() - (answered.get(keyOf(row)) ?? 0) < AGAIN_AFTER_MS;
      if (isAnswered || Date.now() - question.since < THINKS_MS) continue;
      await (question.kind === "approval" ? decideApproval : decideOutcome)(run, row);
    }
  };

  /** Approves each file whose rows are those of the plan. */
  const approveFiles = async (): Promise<void> => {
    const batches = (await operate(({ ledger }) => ledger.batches())) ?? [];
    for (const { file, id, state } of batches) {
      if (state !== "needsApproval") continue;
      for (const { workflowId, makes, ...run } of runs) {
        const isRow = file === `${run.file}.jsonl`;
        const [amount] = makes.flatMap(({ amounts }) => amounts);
        if (isRow && amount !== undefined) approved.push({ workflowId, amount });
      }
      await decide("file", async (operations) =>
        decideBatch(operations, id, "approve", { ...APPROVING, hash: await read(operations, id) }),
      );
    }
  };

  /** Says what a word of the service means, which the bank has explained. */
  const answerWords = async (): Promise<void> => {
    const asked = await operate(({ ledger }) => ledger.attention({ lateAfterMs: 0 }));
    for (const { account, kind, of } of asked ?? []) {
      if (kind !== "word" || account === null || of.toLowerCase() !== COMPLETED_WORD.toLowerCase())
        continue;
      await decide("word", ({ ledger }) => ledger.decideWord(account, of, "completed", ACTING));
    }
  };

  return {
    /** How often a person was asked for the outcome of a write, by the reason. */
    questions: (): Readonly<Record<string, number>> => {
      const counts: Record<string, number> = {};
      for (const what of asked.values()) counts[what] = (counts[what] ?? 0) + 1;
      return counts;
    },
    /** After a restore of the ledger, runs ask again what was answered since. */
    forget: () => answered.clear(),
    /** Answers until the signal is aborted. */
    answer: async (): Promise<void> => {
      while (!signal.aborted) {
        const rows = await operate(({ ledger }) =>
          ledger.rows({ needsPerson: true, limit: 10_000 }),
        );
        await answerAll(rows ?? []).catch(ignoreUnavailable);
        await approveFiles();
        await answerWords();
        await delay(EVERY_MS, signal);
      }
    },
  };
};
