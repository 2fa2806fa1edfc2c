import { isRecord } from "@durable-payments/api-core/values";
import type { WriteRow } from "@durable-payments/ledger";
import { equals, format, fromStringUnsafe, subtract, sumAll } from "effect/BigDecimal";
import { madeBy } from "../people/answers.ts";
import type { QuietTime } from "../people/operator.ts";
import type { PlannedOnboarding, PlannedPayout, PlannedRun } from "../plan/planned-run.ts";
import type { PayoutRecord, ServiceLedger } from "../service/service-ledger.ts";
import { Findings } from "./findings.ts";
import type { Ending } from "./run-endings.ts";

/** What a campaign leaves behind. */
export interface Evidence {
  readonly runs: ReadonlyArray<PlannedRun>;
  /** How the latest run of each workflow id ended. */
  readonly endings: ReadonlyMap<string, Ending>;
  /** The writes of the payments ledger. */
  readonly rows: ReadonlyArray<WriteRow>;
  readonly service: ServiceLedger;
  /** What was paid into the account, by currency. */
  readonly funds: Readonly<Record<string, string>>;
  /** When a person ended or rejected a workflow id, in milliseconds since 1970. */
  readonly ended: ReadonlyMap<string, number>;
  /** Ids that Temporal's own tools have ended, or a person whom another one overruled. */
  readonly interrupted: ReadonlySet<string>;
  /** The ledger was restored or lost at this time: it need not know what was made before. */
  readonly forgottenBefore: number | undefined;
  /** Whether Temporal was restored: people start again what it has forgotten, by the first input. */
  readonly isTemporalRestored: boolean;
  /** When nothing may have been made. */
  readonly quiet: ReadonlyArray<QuietTime>;
  /** When a worker was frozen: what it was about to send is sent when it goes on. */
  readonly frozen: ReadonlyArray<{ readonly from: number; readonly to: number }>;
}

/** What the comparison of the service with runs and ledger has found. */
export interface Comparison extends Pick<Findings, "duplicates" | "lost" | "wrong" | "stuck"> {
  readonly completed: number;
  /** Ended by an injected refusal. */
  readonly refused: number;
  /** Ended by people, or by Temporal's tools. */
  readonly ended: number;
  /** Failed as it was planned: a payout that fails, a check or funds that are late. */
  readonly failed: number;
}

/** How long what has left before a decision may be on its way. */
const ON_ITS_WAY_MS = 3_500;

/** The simulator's words for an injected refusal, and those for a token that it has injected to be expired. */
const INJECTED = /Refused on demand|on demand/i;

/** States of a write that may have been carried out, and of which a person knows or that is still looked for. */
const isDoubted = ({ doubt, state }: WriteRow): boolean =>
  state === "sending" ||
  state === "unknown" ||
  state === "asking" ||
  (state === "ended" && doubt > 0);

/** Whether two amounts are the same number, however they are written. */
const isSameAmount = (one: string, other: string): boolean =>
  equals(fromStringUnsafe(one), fromStringUnsafe(other));

/** Compares one campaign. */
class Comparing {
  readonly findings = new Findings();
  readonly #evidence: Evidence;
  readonly #rows = new Map<string, Array<WriteRow>>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    for (const row of evidence.rows) {
      this.#rows.set(row.workflowId, [...(this.#rows.get(row.workflowId) ?? []), row]);
    }
  }

  wrong(subject: string, what: string): void {
    this.findings.wrong.push({ subject, what });
  }

  /** What a person has ended is not made later; a frozen worker may still send what it was about to. */
  #checkStaysEnded(workflowId: string, name: string, createTime: string | undefined): void {
    const endedAt = this.#evidence.ended.get(workflowId);
    if (endedAt === undefined || createTime === undefined) return;
    const at = Date.parse(createTime);
    const held = this.#evidence.frozen.filter(({ from, to }) => from <= at && to >= endedAt);
    const allowed = Math.max(endedAt, ...held.map(({ to }) => to)) + ON_ITS_WAY_MS;
    if (at > allowed)
      this.wrong(workflowId, `${name} was made ${at - endedAt} ms after it was ended`);
  }

  /** What exists is known by the ledger as made, or as something that may have been made. */
  #checkKnown(
    workflowId: string,
    operation: string,
    name: string,
    id: string,
    createTime: string | undefined,
  ): void {
    const { forgottenBefore } = this.#evidence;
    if (forgottenBefore !== undefined && !(Date.parse(createTime ?? "") > forgottenBefore)) return;
    const rows = (this.#rows.get(workflowId) ?? []).filter((row) => row.operation === operation);
    if (rows.some((row) => row.madeId === id || isDoubted(row))) return;
    const states = rows.map(({ madeId, state, step }) => `${step} ${state} ${madeId ?? ""}`);
    this.findings.lost.push({
      subject: workflowId,
      what: `${name} ${id} exists, and the ledger does not know it (${states.join(", ") || "no row"})`,
    });
  }

  /** What the ledger has as made exists. */
  checkLedger(run: PlannedRun): void {
    for (const row of this.#rows.get(run.workflowId) ?? []) {
      if (row.madeId === null || !row.operation.startsWith("create")) continue;
      if (row.operation === "createBalance") continue;
      const made = madeBy(row, run, this.#evidence.service);
      // A beneficiary of the very same account may be taken.
      if (made.includes(row.madeId) || row.operation === "createBeneficiary") continue;
      this.findings.lost.push({
        subject: run.workflowId,
        what: `the ledger has ${row.madeId} as made by ${row.step}, and the service made ${made.join(", ") || "nothing"}`,
      });
    }
  }

  #payment(run: PlannedPayout, index: number, ending: Ending): void {
    const { workflowId } = run;
    const payment = run.payments[index];
    if (payment === undefined) return;
    const { beneficiaries, payouts } = this.#evidence.service;
    const found = payouts.filter(({ payout_reason }) => payout_reason === payment.reason);
    const [payout, ...more] = found;
    if (more.length > 0) {
      const ids = found.map(({ create_time, payout_id }) => `${payout_id} at ${create_time}`);
      this.findings.duplicates.push({
        subject: workflowId,
        what: `${found.length} payouts instead of one: ${ids.join(", ")}`,
      });
    }
    if (payout === undefined) {
      if (ending.status === "completed") {
        this.findings.lost.push({ subject: workflowId, what: "completed without a payout" });
      }
      return;
    }
    this.#checkStaysEnded(workflowId, "a payout", payout.create_time);
    this.#checkKnown(
      workflowId,
      "createPayout",
      "the payout",
      payout.payout_id,
      payout.create_time,
    );
    if (!payment.amounts.some((one) => isSameAmount(one, payout.amount))) {
      this.wrong(
        workflowId,
        `the amount is ${payment.amounts.join(" or ")}, paid ${payout.amount}`,
      );
    }
    if (payout.currency !== payment.currency) this.wrong(workflowId, `paid in ${payout.currency}`);
    const paid = beneficiaries.find((one) => one.beneficiary_id === payout.beneficiary_id);
    const isRight =
      "id" in payment.beneficiary
        ? payment.beneficiary.id === payout.beneficiary_id
        : payment.beneficiary.nickname === paid?.details["nickname"];
    if (!isRight) this.wrong(workflowId, `paid to ${payout.beneficiary_id}`);
    if (ending.status === "completed") this.#checkResult(run, index, ending.result, payout);
  }

  #checkResult(run: PlannedPayout, index: number, result: unknown, payout: PayoutRecord): void {
    const said: unknown = Array.isArray(result) ? result[index] : result;
    const saidId = isRecord(said) ? said["payout_id"] : undefined;
    if (String(saidId) !== payout.payout_id) {
      this.wrong(run.workflowId, `says payout ${String(saidId)}, and it is ${payout.payout_id}`);
    }
    if (payout.payout_status !== "completed") {
      this.wrong(run.workflowId, `completed, and its payout is ${payout.payout_status}`);
    }
  }

  payouts(run: PlannedPayout, ending: Ending): void {
    for (const index of run.payments.keys()) this.#payment(run, index, ending);
  }

  onboarding(run: PlannedOnboarding, ending: Ending): void {
    const { email, undoes, workflowId } = run;
    const all = this.#evidence.service.cardholders.filter((one) => one.email === email);
    const cards = this.#evidence.service.cards.filter(({ card_holder_id }) =>
      all.some((one) => one.card_holder_id === card_holder_id),
    );
    // A run that has undone its work makes it anew when it is retried.
    const holders = undoes ? all.filter(({ removed }) => !removed) : all;
    const live = undoes ? cards.filter(({ card_status }) => card_status !== "cancelled") : cards;
    for (const [name, made] of [
      ["cardholders", holders],
      ["cards", live],
    ] as const) {
      if (made.length < 2) continue;
      this.findings.duplicates.push({
        subject: workflowId,
        what: `${made.length} ${name} instead of one`,
      });
    }
    for (const { card_holder_id, create_time } of holders) {
      this.#checkStaysEnded(workflowId, "a cardholder", create_time);
      this.#checkKnown(
        workflowId,
        "createCardholder",
        "the cardholder",
        card_holder_id,
        create_time,
      );
    }
    for (const { card_id, card_limit, create_time } of live) {
      this.#checkStaysEnded(workflowId, "a card", create_time);
      this.#checkKnown(workflowId, "createCard", "the card", card_id, create_time);
      if (run.cardLimits.some((one) => isSameAmount(one, card_limit))) continue;
      this.wrong(workflowId, `the limit is ${run.cardLimits.join(" or ")}, given ${card_limit}`);
    }
    if (ending.status === "completed") {
      const said = isRecord(ending.result) ? ending.result : {};
      const isSaid =
        holders.some((one) => one.card_holder_id === said["card_holder_id"]) &&
        live.some((one) => one.card_id === said["card_id"]);
      if (isSaid) return;
      this.findings.lost.push({
        subject: workflowId,
        what: "completed without its cardholder and card",
      });
    } else if (ending.status === "failed" && undoes && this.#mustBeUndone(run, ending)) {
      if (holders.length + live.length === 0) return;
      this.wrong(workflowId, `failed (${ending.type}), and what it made was not undone`);
    }
  }

  /** Terminated runs undo nothing, and what a person has ended in doubt is left to a person. */
  #mustBeUndone(
    { workflowId }: PlannedOnboarding,
    { type }: Ending & { readonly status: "failed" },
  ) {
    const rows = this.#rows.get(workflowId) ?? [];
    // After an end nothing is sent, no removal either.
    const isEnded = type === "Ended" || this.#evidence.ended.has(workflowId);
    return type !== "Terminated" && !isEnded && !rows.some(isDoubted);
  }

  /** What was paid out and put on cards is what the balances lack, to the last digit. */
  balances(): void {
    const { funds, service } = this.#evidence;
    const spent = [
      ...service.payouts.filter(({ returned }) => !returned),
      ...service.cards
        .filter(({ card_status }) => card_status !== "cancelled")
        .map(({ card_limit }) => ({ amount: card_limit, currency: "USD" })),
    ];
    for (const [currency, paidIn] of Object.entries(funds)) {
      const due = subtract(
        fromStringUnsafe(paidIn),
        sumAll(
          spent
            .filter((one) => one.currency === currency)
            .map(({ amount }) => fromStringUnsafe(amount)),
        ),
      );
      const left = service.balances.find((balance) => balance.currency === currency);
      if (left !== undefined && equals(fromStringUnsafe(left.available_balance), due)) continue;
      this.wrong(
        `the ${currency} balance`,
        `is ${left?.available_balance ?? "missing"}, must be ${format(due)}`,
      );
    }
  }

  /** Everything that the service has is of a run. */
  unowned(): void {
    const { runs, service } = this.#evidence;
    const known = new Set(
      runs.flatMap((run) =>
        run.kind === "onboarding" ? [run.email] : run.payments.map(({ reason }) => reason),
      ),
    );
    for (const { payout_id, payout_reason } of service.payouts) {
      if (!known.has(payout_reason)) this.wrong(`payout ${payout_id}`, "is of no run");
    }
    for (const { card_holder_id, email } of service.cardholders) {
      if (!known.has(email)) this.wrong(`cardholder ${card_holder_id}`, "is of no run");
    }
  }

  /** Nothing was made while sends were paused, or the ledger was restored and nobody had said `recover`. */
  quiet(): void {
    const { quiet, service } = this.#evidence;
    const made = [
      ...service.payouts.map((one) => ({ at: one.create_time, name: `payout ${one.payout_id}` })),
      ...service.cardholders.map((one) => ({
        at: one.create_time,
        name: `cardholder ${one.card_holder_id}`,
      })),
      ...service.cards.map((one) => ({ at: one.create_time ?? "", name: `card ${one.card_id}` })),
    ];
    for (const { from, to, why } of quiet) {
      for (const { at, name } of made) {
        const time = Date.parse(at);
        if (time > from && time < to) this.wrong(name, `made ${time - from} ms into ${why}`);
      }
    }
  }

  /** Classifies how a run ended, and whether it may have ended so. */
  outcomeOf(
    run: PlannedRun,
    ending: Ending,
  ): Exclude<keyof Comparison, keyof Findings> | undefined {
    const { workflowId } = run;
    if (ending.status === "open") {
      this.findings.stuck.push({ subject: workflowId, what: "is open" });
      return undefined;
    }
    if (ending.status === "missing") {
      this.findings.lost.push({ subject: workflowId, what: "Temporal does not know the run" });
      return undefined;
    }
    if (ending.status === "completed") return "completed";
    const { message, type } = ending;
    const { ended, forgottenBefore, interrupted, isTemporalRestored } = this.#evidence;
    if (ended.has(workflowId) && ["Ended", "Rejected", "Cancelled", "Terminated"].includes(type)) {
      return "ended";
    }
    if (interrupted.has(workflowId) && ["Cancelled", "Terminated", "Ended"].includes(type)) {
      return "ended";
    }
    if (run.mayFailAs.includes(type)) return "failed";
    if (type === "Refused" && INJECTED.test(message)) return "refused";
    const isAmended = run.intervention?.kind === "retry" && run.intervention.amend !== undefined;
    // One of the two requests was carried out, and Temporal or the ledger has forgotten that the run was amended.
    const isForgotten = isTemporalRestored || forgottenBefore !== undefined;
    if (isForgotten && isAmended && type === "AlreadyCarriedOut") return "failed";
    // Its beneficiary is made anew where the ledger has forgotten it; the payout to the first is found, or named.
    const hasNewPayee = run.kind === "payout" && "nickname" in run.payments[0].beneficiary;
    const isToTheFirst = type === "PayoutDiffers" || type === "AlreadyCarriedOut";
    if (forgottenBefore !== undefined && hasNewPayee && isToTheFirst) return "failed";
    this.wrong(workflowId, `failed without a cause: ${type} ${message}`);
    return undefined;
  }
}

/** Compares what the service did with what the runs and the payments ledger say. */
export const compare = (evidence: Evidence): Comparison => {
  const comparing = new Comparing(evidence);
  const counts = { completed: 0, refused: 0, ended: 0, failed: 0 };
  for (const run of evidence.runs) {
    const ending = evidence.endings.get(run.workflowId) ?? { status: "open" };
    const outcome = comparing.outcomeOf(run, ending);
    if (outcome !== undefined) counts[outcome] += 1;
    if (run.kind === "onboarding") comparing.onboarding(run, ending);
    else comparing.payouts(run, ending);
    comparing.checkLedger(run);
  }
  for (const { message, operation, state, step, workflowId } of evidence.rows) {
    if (state !== "sending" && state !== "unknown") continue;
    const isOpen = evidence.endings.get(workflowId)?.status === "open";
    // It moves no money, and is safe to send again: of a run that has ended, it is left to the next one.
    if (operation === "createBeneficiary" && !isOpen) continue;
    comparing.findings.stuck.push({
      subject: workflowId,
      what: `${step} (${operation}) is ${state}: ${message ?? ""}`,
    });
  }
  comparing.balances();
  comparing.unowned();
  comparing.quiet();
  const { duplicates, lost, stuck, wrong } = comparing.findings;
  return { ...counts, duplicates, lost, stuck, wrong };
};
