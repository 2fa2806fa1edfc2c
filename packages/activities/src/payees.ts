import {
  type DescribedPayee,
  lastFour,
  type Payee,
  type PayoutInput,
  textAt,
} from "@durable-payments/protocol";
import { type OperationName, type PaymentsError, Unavailable } from "@durable-payments/api-core";
import { isRecord, messageOf } from "@durable-payments/api-core/values";
import { idNameOf, idOf, type Journal } from "@durable-payments/journal";
import { Effect, Result } from "effect";
import { canonicalJson } from "./canonical-json.ts";
import { toApplicationFailure } from "./failures.ts";
import { contradictedField, unprovedField } from "./match-beneficiary.ts";
import { hashPayload } from "./recorded-send.ts";
import { type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import type { SendIntent } from "./send-intent.ts";
import type { Signer } from "./signer.ts";

/** How many payees the payouts of a batch have, and how many of them were never paid before. */
export interface CountedPayees {
  /** Accounts, as far as the service says which account a beneficiary has. */
  readonly payees: number;
  /** Those whose account was never paid, nor any of their beneficiaries; undefined where there is no journal to tell. */
  readonly neverPaid: number | undefined;
  /** Those whose account was never paid, though a beneficiary of it may have been: with another account, perhaps. */
  readonly accountsNeverPaid?: number | undefined;
  /** For each chunk, and each row of it, the mark of its beneficiary's details; empty for a new one. */
  readonly marks?: ReadonlyArray<ReadonlyArray<string>>;
}

/** What a beneficiary is known again by, as the service has it. */
export interface PayeeMarks {
  /** Of all details that decide who is paid: by each secret that counts, and first by the one that signs. */
  readonly details: readonly [string, ...Array<string>];
  /** Of its account, by the same secrets; left out where that is not known. */
  readonly account?: readonly [string, ...Array<string>];
}

/** What says which account is paid, beside the country of its bank. */
const ACCOUNT_FIELDS = [
  "iban",
  "account_number",
  "swift_code",
  "clearing_system",
  "routing_code_type1",
  "routing_code_value1",
  "routing_code_type2",
  "routing_code_value2",
  "bank_name",
] as const;

/** An account with a bank, as far as it is known. */
interface Account {
  readonly holder: string | undefined;
  readonly country: string | undefined;
  readonly fields: Readonly<Partial<Record<(typeof ACCOUNT_FIELDS)[number], string>>>;
}

const accountIn = (details: unknown, country: string): Account => ({
  holder: textAt(details, "account_holder"),
  country: textAt(details, country),
  fields: Object.fromEntries(
    ACCOUNT_FIELDS.flatMap((field) => {
      const text = textAt(details, field);
      return text === undefined ? [] : [[field, text]];
    }),
  ),
});

const plain = (text: string): string => text.replaceAll(/\s/g, "").toUpperCase();

/** What of an account an approver is shown; of each number that is sent the last four characters. */
const shownOf = ({ country, fields, holder }: Account) => {
  const { account_number, bank_name, clearing_system, iban, swift_code } = fields;
  const routing = [1, 2].flatMap((n) => {
    const type = fields[`routing_code_type${n as 1 | 2}`] ?? "";
    const value = fields[`routing_code_value${n as 1 | 2}`];
    return value === undefined ? [] : [`${type} ${value}`.trim()];
  });
  return {
    account_holder: holder ?? "unknown",
    bank_country: country ?? "unknown",
    ...(bank_name !== undefined && { bank_name }),
    ...(swift_code !== undefined && { swift_code }),
    ...(clearing_system !== undefined && { clearing_system }),
    ...(routing.length > 0 && { routing_code: routing.join(", ") }),
    ...(iban !== undefined && { iban: lastFour(iban) }),
    ...(account_number !== undefined && { account_number: lastFour(account_number) }),
    ...(iban === undefined && account_number === undefined && { iban: "unknown" }),
  };
};

/** What decides who is paid, beside the details of the bank. */
const PAYEE_FIELDS = [
  "entity_type",
  "payment_method",
  "beneficiary_company_name",
  "beneficiary_first_name",
  "beneficiary_last_name",
  "account_number",
  "account_currency_code",
  "bank_country_code",
] as const;

/** Characters of a mark of details: a batch keeps one for each row. */
const MARK_LENGTH = 12;

/** Failures of a reading that another one has, too; after any other the service is asked again. */
const READ_IN_VAIN: ReadonlySet<PaymentsError["_tag"]> = new Set([
  "InvalidRequest",
  "Refused",
  "UnexpectedAnswer",
]);

const notRead = (why: string, options: { readonly nonRetryable: boolean }) =>
  toApplicationFailure(
    new Unavailable({
      operation: "retrieveBeneficiary",
      carriedOut: "no",
      message: `It was not sent: whom it pays could not be read (${why})`,
    }),
    options,
  );

const bankOf = (beneficiary: unknown): unknown =>
  isRecord(beneficiary) ? beneficiary["beneficiary_bank_details"] : undefined;

/** Who is paid, as the service has it, and whether that was done before, as the journal has it. */
export class Payees {
  readonly #runtime: PaymentsRuntime;
  readonly #journal: Journal;
  readonly #signer: Signer;

  constructor(runtime: PaymentsRuntime, journal: Journal, signer: Signer) {
    this.#runtime = runtime;
    this.#journal = journal;
    this.#signer = signer;
  }

  /** Whom a send pays, as the journal keeps it: never the number of an account. */
  async ofSend(operation: OperationName, input: unknown): Promise<string | undefined> {
    if (operation === "createPayout") return textAt(input, "beneficiary_id");
    if (operation !== "createBeneficiary") return undefined;
    return (await this.#marksOfAccount(accountIn(input, "bank_country")))?.[0];
  }

  /**
   * Describe a payee to who has to approve its payment.
   *
   * @returns the last four characters of each number of the account, not all of it; with a mark of all details
   *   where they are the service's, and may be changed before it is paid.
   */
  async describe(payee: Payee): Promise<DescribedPayee> {
    if ("beneficiary" in payee) {
      const account = accountIn(payee.beneficiary, "bank_country");
      return { ...shownOf(account), paid_before: await this.#paidBefore(account) };
    }
    const { beneficiary_id } = payee;
    // Where nothing could be read now, the send is asked about anew once something can be.
    const beneficiary = Result.getOrElse(await this.#read(beneficiary_id), () => undefined);
    const account = accountIn(bankOf(beneficiary), "bank_country_code");
    return {
      ...shownOf(account),
      paid_before: await this.#paidBefore(account, beneficiary_id),
      mark: (await this.#marksOfDetails(beneficiary_id, beneficiary))[0],
    };
  }

  /**
   * Mark a beneficiary as the service has it now.
   *
   * @throws Unavailable where the service does not answer.
   */
  async marksOf(
    beneficiary_id: string,
    { nonRetryable }: { readonly nonRetryable: boolean },
  ): Promise<PayeeMarks> {
    const read = await this.#read(beneficiary_id);
    if (Result.isFailure(read) && !READ_IN_VAIN.has(read.failure._tag)) {
      throw notRead(read.failure.message, { nonRetryable });
    }
    const beneficiary = Result.getOrElse(read, () => undefined);
    const account = await this.#marksOfAccount(accountIn(bankOf(beneficiary), "bank_country_code"));
    return {
      details: await this.#marksOfDetails(beneficiary_id, beneficiary),
      ...(account !== undefined && { account }),
    };
  }

  /**
   * Whether what a request names was made by a request that was approved with it: as the journal has it, where the
   * service shows no beneficiary with another account; or, of a beneficiary, as the service shows all of it.
   *
   * @throws Unavailable where that cannot be read.
   */
  async isMadeOf(
    { input: approved, operation }: NonNullable<SendIntent["approvedFor"]>,
    input: unknown,
    workflowId: string,
  ): Promise<boolean> {
    const id = textAt(input, idNameOf(operation) ?? "");
    if (id === undefined) return false;
    const payloadHash = hashPayload(workflowId, approved);
    const sends = await this.#journal.find({ workflowId }).catch((error: unknown) => {
      throw notRead(messageOf(error), { nonRetryable: true });
    });
    const isRecorded = sends.some(
      (send) =>
        send.operation === operation &&
        send.outcome === "carriedOut" &&
        send.payloadHash === payloadHash &&
        idOf(send) === id,
    );
    if (operation !== "createBeneficiary") return isRecorded;
    const read = await this.#read(id);
    if (Result.isSuccess(read)) {
      const other = isRecorded ? contradictedField : unprovedField;
      return other(approved, read.success) === undefined;
    }
    if (READ_IN_VAIN.has(read.failure._tag)) return isRecorded;
    throw notRead(read.failure.message, { nonRetryable: true });
  }

  /**
   * Count the payees of payouts, and those that were never paid. A payee is an account: beneficiaries of the
   * same one, and one that is given by its details, are one payee.
   *
   * @param existing what `marksOf` returned, by beneficiary id: one whose account is not known is a payee of its own.
   */
  async count(
    inputs: ReadonlyArray<PayoutInput>,
    existing: ReadonlyMap<string, PayeeMarks>,
  ): Promise<CountedPayees> {
    const byMark = new Map<string, { readonly marks: ReadonlyArray<string>; ids: Set<string> }>();
    for (const input of inputs) {
      const id = "beneficiary" in input ? undefined : input.beneficiary_id;
      const account =
        "beneficiary" in input
          ? await this.#marksOfAccount(accountIn(input.beneficiary, "bank_country"))
          : existing.get(input.beneficiary_id)?.account;
      const marks = account ?? [id ?? ""];
      const payee = byMark.get(marks[0]) ?? { marks, ids: new Set() };
      if (id !== undefined) payee.ids.add(id);
      byMark.set(marks[0], payee);
    }
    const payees = [...byMark.values()];
    const paid = await this.#paidAmong([
      ...new Set(payees.flatMap(({ ids, marks }) => [...marks, ...ids])),
    ]);
    const isPaid = (known: string) => paid?.has(known) === true;
    const never = payees.filter(({ marks }) => !marks.some(isPaid));
    const neverByAny = never.filter(({ ids }) => ![...ids].some(isPaid));
    return {
      payees: payees.length,
      neverPaid: paid && neverByAny.length,
      accountsNeverPaid: paid && never.length,
    };
  }

  async #paidBefore(account: Account, beneficiary_id?: string): Promise<string> {
    const marks = (await this.#marksOfAccount(account)) ?? [];
    const known = [...marks, ...(beneficiary_id === undefined ? [] : [beneficiary_id])];
    const paid = await this.#paidAmong(known);
    if (paid === undefined) return "unknown: the journal cannot tell";
    if (marks.some((mark) => paid.has(mark))) return "yes";
    // It may have had another account then.
    return paid.size > 0
      ? "this beneficiary was, this account never, as the journal has it"
      : "never, as the journal has it";
  }

  async #paidAmong(payees: ReadonlyArray<string>): Promise<ReadonlySet<string> | undefined> {
    if (this.#journal.isOfProcess) return undefined;
    try {
      return await this.#journal.paidAmong(payees);
    } catch {
      return undefined;
    }
  }

  #read(beneficiary_id: string): Promise<Result.Result<unknown, PaymentsError>> {
    return runInActivity(
      this.#runtime,
      (client) => Effect.result(client.retrieveBeneficiary({ beneficiary_id })),
      (error) => toApplicationFailure(error, { nonRetryable: true }),
    );
  }

  /** Mark an account, so that it is known again, with its bank: by a secret that counts no more all accounts are new. */
  async #marksOfAccount({ country = "", fields }: Account): Promise<PayeeMarks["account"]> {
    if (fields.iban === undefined && fields.account_number === undefined) return undefined;
    const said = ACCOUNT_FIELDS.map((field) => plain(fields[field] ?? ""));
    return await this.#signer.signaturesOf(["account of a payee", plain(country), ...said]);
  }

  async #marksOfDetails(
    beneficiary_id: string,
    beneficiary: unknown,
  ): Promise<PayeeMarks["details"]> {
    const said = PAYEE_FIELDS.map((field) => textAt(beneficiary, field) ?? "");
    const bank = canonicalJson(bankOf(beneficiary) ?? null);
    const details = ["details of a payee", beneficiary_id, ...said, bank] as const;
    const [mark, ...others] = await this.#signer.signaturesOf(details);
    const cut = (signature: string) => signature.slice(0, MARK_LENGTH);
    return [cut(mark), ...others.map(cut)];
  }
}

/** What an approver is shown of who is paid. */
export interface PayeeActivities {
  readonly describePayee: (payee: Payee) => Promise<DescribedPayee>;
}

/** The activity that describes payees. */
export const makePayeeActivities = (payees: Payees): PayeeActivities => ({
  describePayee: (payee) => payees.describe(payee),
});
