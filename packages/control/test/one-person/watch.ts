import type { WriteRow } from "@durable-payments/ledger";
import { isOpenStatus } from "@durable-payments/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import { ControlError } from "../../src/errors.ts";
import { accountOf, type Payment, payeesOf, shown } from "./payment.ts";
import type { Stack } from "./stack.ts";

/** Gives up a wait: nothing here takes as long. */
const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 150;

/** What an attempt has led to, as Temporal, the ledger and the service have it; and what was allowed. */
export class Watch {
  /** Begins every id, name and reason of the attempt. */
  readonly id: string;
  readonly stack: Stack;
  readonly payees: ReturnType<typeof payeesOf>;
  readonly #allowed: Array<string> = [];

  constructor(stack: Stack, number: number) {
    this.stack = stack;
    this.id = `a${String(number).padStart(3, "0")}`;
    this.payees = payeesOf(this.id, number);
  }

  /** Waits until something is found. @throws Error if it never is. */
  async until<A>(what: string, look: () => Promise<A | undefined>): Promise<A> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
      const found = await look();
      if (found !== undefined) return found;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(`Waited in vain until ${what}`);
  }

  handle(id: string) {
    return this.stack.operations.client.workflow.getHandle(id);
  }

  async isOpen(id: string): Promise<boolean> {
    return isOpenStatus((await this.handle(id).describe()).status.name);
  }

  /** Whether Temporal knows an id. */
  exists(id: string): Promise<boolean> {
    const described = this.handle(id).describe();
    return described.then(
      () => true,
      () => false,
    );
  }

  async starts(id: string): Promise<void> {
    await this.until(`${id} has started`, async () => (await this.exists(id)) || undefined);
  }

  async ends(id: string): Promise<void> {
    await this.until(`${id} has ended`, async () => !(await this.isOpen(id)) || undefined);
  }

  /** The failure of an ended run in words; undefined if it completed. */
  async failure(id: string): Promise<string | undefined> {
    try {
      await this.handle(id).result();
      return undefined;
    } catch (error) {
      const words: Array<string> = [];
      for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
        words.push(`${"type" in cause ? String(cause.type) : cause.name}: ${cause.message}`);
      return words.join(" < ");
    }
  }

  /** Waits until a run has failed; returns its failure in words. */
  async fails(id: string): Promise<string> {
    await this.ends(id);
    const failure = await this.failure(id);
    if (failure === undefined) throw new Error(`${id} has completed`);
    return failure;
  }

  /** The row that asks for an approval under an id. */
  async asking(id: string): Promise<WriteRow | undefined> {
    const rows = await this.stack.operations.ledger.rowsOf(id);
    return rows.find(({ question, state }) => question?.kind === "approval" && state !== "ended");
  }

  /** Waits until a payment under an id waits for a second person. */
  asks(id: string): Promise<WriteRow> {
    return this.until(`${id} asks for an approval`, async () => {
      const row = await this.asking(id);
      if (row === undefined && !(await this.isOpen(id)))
        throw new Error(`${id} has ended and asked nobody: ${await this.failure(id)}`);
      return row;
    });
  }

  /** Waits until another question than this one has to be approved. */
  asksAgain(id: string, { question }: WriteRow): Promise<WriteRow> {
    return this.until(`${id} asks for another approval`, async () => {
      const row = await this.asking(id);
      return row?.question?.id === question?.id ? undefined : row;
    });
  }

  /** Waits until a run asks for an approval, or has failed. */
  asksOrFails(id: string): Promise<WriteRow | string> {
    return this.until(`${id} asks or has failed`, async () => {
      const row = await this.asking(id);
      if (row !== undefined) return row;
      return (await this.isOpen(id)) ? undefined : this.fails(id);
    });
  }

  /** Expects that the software refuses, with a message for a person. */
  async refused(trying: Promise<unknown>): Promise<string> {
    const error: unknown = await trying.then(
      () => new Error("It was not refused"),
      (refusal: unknown) => refusal,
    );
    if (error instanceof ControlError) return error.message;
    throw error;
  }

  /** Whatever is paid as this payment, once, was allowed: by a second person, or by the policy. */
  protected allow(payment: Payment): void {
    this.#allowed.push(shown(payment));
  }

  /** The payouts to accounts of this attempt, as the service has them. */
  async payouts(): Promise<ReadonlyArray<Payment>> {
    const { beneficiaries, payouts } = await this.stack.home.state();
    const payees = new Map(beneficiaries.map((one) => [one.beneficiary_id, one.details]));
    return payouts.flatMap((payout) => {
      const { amount, beneficiary_id, currency, payment_date, payout_reference } = payout;
      const to = payees.get(beneficiary_id);
      return to?.["nickname"]?.startsWith(`${this.id} `) === true && !payout.returned
        ? [{ amount, currency, to, reference: payout_reference, date: payment_date }]
        : [];
    });
  }

  /** Waits until the service has this many payouts of the attempt. */
  async paid(count = 1): Promise<void> {
    await this.until(`${count} payouts are made`, async () =>
      (await this.payouts()).length >= count ? true : undefined,
    );
  }

  /** The beneficiary that the service has for an account, the latest; undefined if it has none. */
  async beneficiaryOf(payee: Payment["to"]): Promise<string | undefined> {
    const { beneficiaries } = await this.stack.home.state();
    const isSame = (details: Payment["to"]) => accountOf(details) === accountOf(payee);
    return beneficiaries.findLast(({ details }) => isSame(details))?.beneficiary_id;
  }

  /** What the service paid and nobody allowed. */
  async unapproved(): Promise<ReadonlyArray<string>> {
    const left = [...this.#allowed];
    return (await this.payouts()).map(shown).filter((paid) => {
      const at = left.indexOf(paid);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
  }
}
