import {
  AMENDED_MARK,
  intentMark,
  PAYMENT_ACCOUNT,
  PAYMENT_AWAITS,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  PAYMENT_STAGE,
  type PaymentMemo,
  readPaymentMemo,
} from "@durable-payments/protocol";
import { patched, upsertMemo, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";

/** Name of the patch by which a run writes what it moves when that was amended. */
const AMENDED_MEMO = "amended payment in memo";

/** Longest value of a Keyword that every visibility store takes. */
const LONGEST_KEYWORD = 255;

/**
 * What a run can be found by, and what it is listed with. Changes are to be written when the workflow has done all that it can do
 * for now: one event for all, and in the same transaction as the commands that it has given with them.
 */
export class SearchAttributes {
  #stage: string;
  #account: string;
  #ids = new Set<string>();
  #intents = new Map<string, string>();
  /** By plain marks what is written in their place. */
  #keyed: Readonly<Record<string, ReadonlyArray<string>>> = {};
  #doubted = new Set<string>();
  #awaited = new Set<string>();
  /** Values as they were last written, as text: at first by who started the run. */
  readonly #written: Map<string, string>;
  #isDue = false;

  constructor() {
    const { typedSearchAttributes: given } = workflowInfo();
    this.#stage = given.get(PAYMENT_STAGE) ?? "";
    this.#account = given.get(PAYMENT_ACCOUNT) ?? "";
    this.#written = new Map([
      [PAYMENT_STAGE.name, this.#stage],
      [PAYMENT_ACCOUNT.name, this.#account],
      [PAYMENT_IDS.name, (given.get(PAYMENT_IDS) ?? []).join(" ")],
      [PAYMENT_AWAITS.name, (given.get(PAYMENT_AWAITS) ?? []).join(" ")],
      [PAYMENT_IN_DOUBT.name, given.get(PAYMENT_IN_DOUBT) ?? ""],
    ]);
  }

  /** The stage that the run has reached. */
  stage(stage: string): void {
    this.#stage = stage;
    this.#due();
  }

  /** The run has taken over its attributes from another one: the stage is written though it may be the same. */
  stageIsOfOther(): void {
    this.#written.delete(PAYMENT_STAGE.name);
  }

  /** The account that the run is pinned to. */
  account(account: string): void {
    this.#account = account;
    this.#due();
  }

  /** Ids and keys by which this run can be found, and what it owns of them. */
  add(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id);
    this.#due();
  }

  /** What a step is about to make; other runs that reconcile the same know that this one may have made it. */
  recordIntent(step: string, intent: string): void {
    this.#intents.set(step, intentMark(intent));
    this.#due();
  }

  /** Marks are made with a secret: the worker has said how, of what the run is going to make. */
  keyed(marks: Readonly<Record<string, ReadonlyArray<string>>>): void {
    this.#keyed = { ...this.#keyed, ...marks };
  }

  /** A step may have made what the run does not know, and cannot show by its mark. */
  doubts(step: string): void {
    this.#doubted.add(step);
    this.#due();
  }

  /** It is known what became of a step's send. */
  clearIntent(step: string): void {
    if (this.#intents.delete(step)) this.#due();
  }

  /** The run ends: only these steps may have made what nobody knows of. */
  clearIntentsBut(steps: ReadonlyArray<string>): void {
    for (const step of this.#intents.keys()) if (!steps.includes(step)) this.clearIntent(step);
  }

  /** By step, the plain mark of what it may have made while it is not known what became of it. */
  get intents(): ReadonlyMap<string, string> {
    return this.#intents;
  }

  /** What the run awaits, and the tracker is to signal. */
  awaits(awaited: string): void {
    this.#awaited.add(awaited);
    this.#due();
  }

  /** The run waits for it no more. */
  awaitsNoMore(awaited: string): void {
    if (this.#awaited.delete(awaited)) this.#due();
  }

  /**
   * The payment was amended: lists and reports show what is sent now. Where it is the same again, or the run
   * was started without it, nothing is written.
   *
   * @param goesBy whether the run goes by a change of the code.
   */
  amended(
    change: (known: PaymentMemo) => PaymentMemo,
    goesBy: (codeChange: string) => boolean = patched,
  ): void {
    const known = readPaymentMemo(workflowInfo().memo);
    if (known === undefined) return;
    const { amount, currency, payee, before = { amount, currency } } = known;
    const now = change(known);
    const isSame = now.amount === amount && now.currency === currency && now.payee === payee;
    if (isSame || !goesBy(AMENDED_MEMO)) return;
    upsertMemo({ payment: { ...now, before } });
    this.add([AMENDED_MARK]);
  }

  /** Writes what has changed, if anything has. */
  write(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    const inDoubt = [...new Set([...this.#intents.keys(), ...this.#doubted])]
      .join(" ")
      .slice(0, LONGEST_KEYWORD);
    const marks = [...this.#intents.values()].flatMap((mark) => this.#keyed[mark] ?? [mark]);
    const ids = [...this.#ids, ...marks];
    const awaited = [...this.#awaited];
    const changes = [
      ...this.#change(this.#stage, { key: PAYMENT_STAGE, value: this.#stage }),
      ...this.#change(ids.join(" "), { key: PAYMENT_IDS, value: ids }),
      ...this.#change(awaited.join(" "), {
        key: PAYMENT_AWAITS,
        value: awaited.length === 0 ? null : awaited,
      }),
      ...this.#change(this.#account, { key: PAYMENT_ACCOUNT, value: this.#account }),
      ...this.#change(inDoubt, { key: PAYMENT_IN_DOUBT, value: inDoubt === "" ? null : inDoubt }),
    ];
    if (changes.length > 0) upsertSearchAttributes(changes);
  }

  #change<Pair extends { readonly key: { readonly name: string } }>(
    text: string,
    pair: Pair,
  ): ReadonlyArray<Pair> {
    const { name } = pair.key;
    if (text === (this.#written.get(name) ?? "")) return [];
    this.#written.set(name, text);
    return [pair];
  }

  #due(): void {
    this.#isDue = true;
  }
}
