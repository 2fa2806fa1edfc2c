import { type Client, WorkflowUpdateFailedError } from "@temporalio/client";
import type { Ledger } from "./ledger.ts";
import { pause } from "./pause.ts";
import type { PlannedRun } from "./planned-runs.ts";
import { Random } from "./random.ts";
import { SimulatorSilent } from "./simulator-control.ts";
import { call, isPassing } from "./temporal.ts";
import type { World } from "./world.ts";

/** A question of a run, as far as it is read here (packages/workflows/src/run/attention.ts). */
interface Attention {
  readonly step: string;
  readonly actions: readonly string[];
  readonly idsWanted: readonly string[];
  readonly since: string;
}

type Decision =
  | { readonly found: Readonly<Record<string, string>> }
  | { readonly resend: true }
  | { readonly amend: Readonly<Record<string, string>> };

/** How the person is called in the audit trails. */
const NAME = "chaos";

const LOOK_EVERY_MS = 500;

/** What a person changes of a refused request: nothing that a look-up reads. */
const AMENDMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createBeneficiary: { city: "Shelbyville" },
  createCardholder: { phone_number: "+4930654321" },
  createPayout: { city: "Springfield" },
  issueCard: { product_code: "prepaid-usd-2" },
};

/** What the ledger shows of a run's step, or undefined where there is nothing. */
export const traceOf = (
  run: PlannedRun,
  step: string,
  ledger: Ledger,
): Readonly<Record<string, string>> | undefined => {
  if (run.kind === "payout") {
    const payout = ledger.payouts.find(({ payout_reason }) => payout_reason === run.reason);
    if (step === "createPayout") return payout && { payout_id: payout.payout_id };
    const { beneficiary } = run;
    const created = ledger.beneficiaries.findLast(
      ({ details }) => "nickname" in beneficiary && details["nickname"] === beneficiary.nickname,
    );
    return created && { beneficiary_id: created.beneficiary_id };
  }
  const holder = ledger.cardholders.find(({ email }) => email === run.email);
  if (step === "createCardholder") return holder && { card_holder_id: holder.card_holder_id };
  const card = ledger.cards.find(({ card_holder_id }) => card_holder_id === holder?.card_holder_id);
  return card && { card_id: card.card_id };
};

/** Answers what asks for a person, by what the ledger says. */
export class Person {
  readonly #world: World;
  readonly #runs: ReadonlyMap<string, PlannedRun>;
  readonly #seed: number;
  readonly #answers = { found: 0, resend: 0, amend: 0 };
  readonly #refusals: string[] = [];
  /** Questions, by run and time, that were answered. */
  readonly #answered = new Set<string>();

  constructor(world: World, runs: readonly PlannedRun[], seed: number) {
    this.#world = world;
    this.#runs = new Map(runs.map((run) => [run.workflowId, run]));
    this.#seed = seed;
  }

  /** How many questions were answered, and how. */
  get answers(): Readonly<Record<"found" | "resend" | "amend", number>> {
    return this.#answers;
  }

  /** Answers that a run refused: none should be. */
  get refusals(): readonly string[] {
    return this.#refusals;
  }

  async answer(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        for (const workflowId of await this.#whoAsks()) await this.#answerOne(workflowId);
      } catch (error) {
        if (!isPassing(error) && !(error instanceof SimulatorSilent)) throw error;
      }
      await pause(LOOK_EVERY_MS, over);
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

  async #answerOne(workflowId: string): Promise<void> {
    const run = this.#runs.get(workflowId);
    if (run === undefined) return;
    const attention = await call(this.#world, (client) => attentionOf(client, workflowId));
    if (attention === undefined) return;
    const question = `${workflowId}/${attention.since}`;
    if (this.#answered.has(question)) return;
    const decision = this.#decide(run, attention, await this.#world.control.ledger());
    try {
      await call(this.#world, (client) =>
        client.workflow.getHandle(workflowId).executeUpdate("resolve", {
          args: [{ by: NAME, ...decision }],
          // An answer whose own answer is lost is given again, and taken once.
          updateId: question,
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      this.#refusals.push(`${question}: ${error.cause?.message ?? error.message}`);
    }
    this.#answered.add(question);
    if ("found" in decision) this.#answers.found += 1;
    else if ("amend" in decision) this.#answers.amend += 1;
    else this.#answers.resend += 1;
  }

  #decide(run: PlannedRun, { actions, idsWanted, step }: Attention, ledger: Ledger): Decision {
    if (!actions.includes("found")) {
      // Refused: it was not carried out, and is sent again, changed or as it was.
      const amend = AMENDMENTS[step];
      const isAmended = new Random(this.#seed, `${run.workflowId}/${step}`).chance(0.5);
      return amend !== undefined && isAmended ? { amend } : { resend: true };
    }
    const trace = traceOf(run, step, ledger);
    if (trace === undefined) return { resend: true };
    return {
      found: Object.fromEntries(idsWanted.map((id) => [id, trace[id] ?? ""])),
    };
  }
}

const attentionOf = async (client: Client, workflowId: string): Promise<Attention | undefined> => {
  // The project's own workflows answer this query so.
  const progress = await client.workflow
    .getHandle(workflowId)
    .query<{ readonly attention?: Attention }>("progress");
  return progress.attention;
};
