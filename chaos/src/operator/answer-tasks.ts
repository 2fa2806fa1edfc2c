import { type Client, WorkflowUpdateFailedError } from "@temporalio/client";
import type { ChaosOptions } from "../options.ts";
import { pause } from "../delay.ts";
import { Evidence, type Verdict } from "./reconcile-send.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { Unreadable } from "./service-reader.ts";
import { call, isPassing } from "../environment/temporal-calls.ts";
import type { World } from "../environment/environment.ts";

/** A question of a run, as far as a person reads it (packages/workflows/src/run/attention.ts). */
export interface Attention {
  /** Names it: an answer is to the question that was read. */
  readonly question: string;
  readonly step: string;
  readonly reason: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly actions: readonly string[];
  readonly idsWanted: readonly string[];
  readonly since: string;
}

/** A question about a send of unknown outcome, and what the evidence said of it. */
export interface AskedQuestion extends Pick<Attention, "step" | "reason"> {
  readonly workflowId: string;
  readonly verdict: Verdict["_tag"];
}

/** A run with what it asks. */
export interface Question extends Attention {
  readonly workflowId: string;
  /** Whether another step of the run is sending as well. */
  readonly sendsBeside: boolean;
}

type Decision =
  | { readonly found: Readonly<Record<string, string>> }
  | { readonly resend: true }
  | { readonly amend: Readonly<Record<string, string>> }
  | { readonly abandon: string };

/** What a person knows beside. */
export interface Circumstances {
  /** Whether the balance that was empty has been funded. */
  readonly isFunded: () => boolean;
  /** Whether runs may be given up by now. */
  readonly mayAbandon: () => boolean;
}

/** How the person is called in the audit trails. */
const NAME = "chaos";

const LOOK_EVERY_MS = 1_000;

/**
 * How long a person lets the lists catch up before absence is believed, and how long a question
 * stands that nothing answers: hours, for a person; seconds here, where lists lag by less than three.
 */
const PATIENCE_MS = 6_000;
const GIVES_UP_MS = 12_000;

/** What a person changes of a refused request: nothing that a look-up reads. */
const AMENDMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createBeneficiary: { city: "Shelbyville" },
  createCardholder: { phone_number: "+4930654321" },
  createPayout: { city: "Springfield" },
  issueCard: { product_code: "prepaid-usd-2" },
};

/** The service's words where the balance does not hold enough. */
const UNFUNDED = /insufficient/i;

/** Answers what asks for a person, by what a person is shown. */
export class Person {
  readonly #world: World;
  readonly #runs: ReadonlyMap<string, PlannedRun>;
  readonly #seed: number;
  readonly #evidence: Evidence;
  readonly #may: Circumstances;
  readonly #answers = { found: 0, resend: 0, amend: 0, abandon: 0 };
  readonly #refusals: string[] = [];
  /** Questions, by run and time, that were answered, and whose answers were taken. */
  readonly #given = new Set<string>();
  readonly #answered = new Set<string>();
  /** The questions about sends whose outcome was unknown, as the evidence was at last. */
  readonly #asked = new Map<string, AskedQuestion>();
  /** When a run was given up, in milliseconds since 1970. */
  readonly abandoned = new Map<string, number>();

  constructor(
    world: World,
    runs: readonly PlannedRun[],
    { seed }: ChaosOptions,
    may: Circumstances,
  ) {
    this.#world = world;
    this.#runs = new Map(runs.map((run) => [run.workflowId, run]));
    this.#seed = seed;
    this.#evidence = new Evidence(world);
    this.#may = may;
  }

  /** How many questions were answered, and how. */
  get answers(): Readonly<Record<"found" | "resend" | "amend" | "abandon", number>> {
    return this.#answers;
  }

  /** Questions about a send of unknown outcome, by what the evidence said when they were answered. */
  get questions(): Readonly<Record<Verdict["_tag"], number>> {
    const counts = { ours: 0, only: 0, absent: 0, unclear: 0, unlisted: 0 };
    for (const { verdict } of this.#asked.values()) counts[verdict] += 1;
    return counts;
  }

  /** The questions whose answer stood in the list. */
  get sparable(): readonly AskedQuestion[] {
    return [...this.#asked.values()].filter(
      ({ verdict }) => verdict === "ours" || verdict === "only",
    );
  }

  /** Answers that a run refused: none should be. */
  get refusals(): readonly string[] {
    return this.#refusals;
  }

  async answer(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        await this.#answerAll();
      } catch (error) {
        if (!isPassing(error) && !(error instanceof Unreadable)) throw error;
      }
      await pause(LOOK_EVERY_MS, over);
    }
  }

  /** The runs were put back: what they asked, and were answered since, they ask again. */
  forget(): void {
    this.#answered.clear();
  }

  async #answerAll(): Promise<void> {
    const questions: Question[] = [];
    for (const workflowId of await this.#whoAsks()) {
      const question = await call(this.#world, (client) => questionOf(client, workflowId));
      if (question !== undefined) questions.push(question);
    }
    this.#evidence.forget();
    for (const question of questions) {
      const id = `${question.workflowId}/${question.question}`;
      if (this.#answered.has(id)) continue;
      try {
        const decision = await this.#decide(question, questions, id);
        if (decision !== undefined) await this.#give(question, id, decision);
      } catch (error) {
        // The others' evidence may be readable.
        if (!(error instanceof Unreadable)) throw error;
      }
    }
  }

  async #whoAsks(): Promise<readonly string[]> {
    return await call(this.#world, async (client) => {
      const asking: string[] = [];
      const query = `PaymentStage = "needsAttention" AND ExecutionStatus = "Running"`;
      for await (const { workflowId } of client.workflow.list({ query })) asking.push(workflowId);
      return asking;
    });
  }

  async #give({ question, workflowId }: Question, id: string, decision: Decision): Promise<void> {
    // Before its answer, which may be lost: a run that asks does nothing meanwhile.
    this.#note(workflowId, id, decision);
    try {
      await call(this.#world, (client) =>
        client.workflow.getHandle(workflowId).executeUpdate("resolve", {
          args: [{ by: NAME, question, ...decision }],
          // An answer whose own answer is lost is given again, and taken once.
          updateId: id,
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      const now = await call(this.#world, (client) => questionOf(client, workflowId));
      // A run that was put back meanwhile asks anew, and that is read first.
      if (now === undefined || now.question === question) {
        this.#refusals.push(`${id}: ${error.cause?.message ?? error.message}`);
      }
    }
    this.#answered.add(id);
  }

  #note(workflowId: string, id: string, decision: Decision): void {
    if ("abandon" in decision) this.abandoned.set(workflowId, Date.now());
    if (this.#given.has(id)) return;
    this.#given.add(id);
    for (const kind of ["found", "resend", "amend", "abandon"] as const) {
      if (kind in decision) this.#answers[kind] += 1;
    }
  }

  /** What a person decides by now; undefined where there is nothing to decide by yet. */
  async #decide(
    question: Question,
    all: readonly Question[],
    id: string,
  ): Promise<Decision | undefined> {
    const { actions, idsWanted, reason, since, step, workflowId } = question;
    const order = this.#runs.get(workflowId)?.order;
    if (order?.kind === "abandon") return this.#abandon("fraud suspected, do not pay");
    if (UNFUNDED.test(reason) && !this.#may.isFunded()) return undefined;
    if (!actions.includes("found")) {
      // Refused: it was not carried out, and is sent again, changed or as it was.
      const amend = actions.includes("amend") ? AMENDMENTS[step] : undefined;
      const isAmended = new Random(this.#seed, `${workflowId}/${step}`).chance(0.5);
      return amend !== undefined && isAmended ? { amend } : { resend: true };
    }
    const age = Date.now() - Date.parse(since);
    const verdict = await this.#evidence.judge(question, all);
    this.#asked.set(id, { workflowId, step, reason, verdict: verdict._tag });
    switch (verdict._tag) {
      case "ours":
        return found(idsWanted, verdict.id);
      case "only":
        return age < PATIENCE_MS ? undefined : found(idsWanted, verdict.id);
      case "absent":
        return age < PATIENCE_MS ? undefined : this.#resend(actions);
      case "unlisted":
        // No list shows it, and a second one moves no money.
        return this.#resend(actions);
      case "unclear":
        return age < GIVES_UP_MS ? undefined : this.#abandon("nobody can tell whether it was paid");
    }
  }

  #resend(actions: Attention["actions"]): Decision | undefined {
    if (actions.includes("resend")) return { resend: true };
    return this.#abandon("it cannot be sent again");
  }

  #abandon(why: string): Decision | undefined {
    return this.#may.mayAbandon() ? { abandon: why } : undefined;
  }
}

const found = (idsWanted: readonly string[], id: string): Decision => ({
  found: Object.fromEntries(idsWanted.map((name) => [name, id])),
});

/** As far as it is read here. */
interface Progress {
  readonly attention?: Attention;
  readonly steps: ReadonlyArray<{ readonly name: string; readonly status: string }>;
}

const questionOf = async (client: Client, workflowId: string): Promise<Question | undefined> => {
  // The project's own workflows answer this query so, and `starter attention` shows it.
  const { attention, steps } = await client.workflow
    .getHandle(workflowId)
    .query<Progress>("progress");
  if (attention === undefined) return undefined;
  const sendsBeside = steps.some(
    ({ name, status }) =>
      name !== attention.step && (status === "running" || status === "needsAttention"),
  );
  return { workflowId, sendsBeside, ...attention };
};
