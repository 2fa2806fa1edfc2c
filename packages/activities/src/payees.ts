import {
  type DescribedPayee,
  lastFour,
  type Payee,
  type PayoutInput,
  textAt,
} from "@durable-payments/protocol";
import type { OperationName } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import type { Journal } from "@durable-payments/journal";
import { createHmac } from "node:crypto";
import { Effect, Redacted } from "effect";
import { toApplicationFailure } from "./failures.ts";
import { optionsOf, type PaymentsRuntime, runInActivity } from "./run-operation.ts";

/** How many payees the payouts of a batch have, and how many of them were never paid before. */
export interface CountedPayees {
  readonly payees: number;
  /** undefined where there is no journal to tell. */
  readonly neverPaid: number | undefined;
}

/** An account with a bank, as far as it is known. */
interface Account {
  readonly holder: string | undefined;
  readonly country: string | undefined;
  readonly number: string | undefined;
}

const accountIn = (details: unknown, country: string): Account => ({
  holder: textAt(details, "account_holder"),
  country: textAt(details, country),
  number: textAt(details, "iban") ?? textAt(details, "account_number"),
});

const plain = (number: string): string => number.replaceAll(/\s/g, "").toUpperCase();

/** Who is paid, as the service has it, and whether that was done before, as the journal has it. */
export class Payees {
  readonly #runtime: PaymentsRuntime;
  readonly #journal: Journal;

  constructor(runtime: PaymentsRuntime, journal: Journal) {
    this.#runtime = runtime;
    this.#journal = journal;
  }

  /** Whom a send pays, as the journal keeps it: never the number of an account. */
  async ofSend(operation: OperationName, input: unknown): Promise<string | undefined> {
    if (operation === "createPayout") return textAt(input, "beneficiary_id");
    if (operation !== "createBeneficiary") return undefined;
    return await this.#markOf(accountIn(input, "bank_country"));
  }

  /**
   * Describe a payee to who has to approve its payment.
   *
   * @returns the last four characters of the account's number, not all of it.
   */
  async describe(payee: Payee): Promise<DescribedPayee> {
    const account =
      "beneficiary" in payee
        ? accountIn(payee.beneficiary, "bank_country")
        : await this.#retrieve(payee.beneficiary_id);
    const { country, holder, number } = account;
    return {
      account_holder: holder ?? "unknown",
      bank_country: country ?? "unknown",
      account: number === undefined ? "unknown" : lastFour(number),
      paid_before: await this.#paidBefore(payee, account),
    };
  }

  /** Count the payees of payouts, and those that were never paid. */
  async count(inputs: ReadonlyArray<PayoutInput>): Promise<CountedPayees> {
    const payees = new Set<string>();
    for (const input of inputs) {
      const payee =
        "beneficiary" in input
          ? await this.#markOf(accountIn(input.beneficiary, "bank_country"))
          : input.beneficiary_id;
      payees.add(payee ?? "");
    }
    const paid = await this.#paidAmong([...payees]);
    return { payees: payees.size, neverPaid: paid && payees.size - paid.size };
  }

  async #paidBefore(payee: Payee, account: Account): Promise<string> {
    const mark = await this.#markOf(account);
    const id = "beneficiary_id" in payee ? [payee.beneficiary_id] : [];
    const paid = await this.#paidAmong([...id, ...(mark === undefined ? [] : [mark])]);
    if (paid === undefined) return "unknown: the journal cannot tell";
    return paid.size > 0 ? "yes" : "never, as the journal has it";
  }

  async #paidAmong(payees: ReadonlyArray<string>): Promise<ReadonlySet<string> | undefined> {
    if (this.#journal.isOfProcess) return undefined;
    try {
      return await this.#journal.paidAmong(payees);
    } catch {
      return undefined;
    }
  }

  /** What of an account the service tells; nothing where it does not answer. */
  #retrieve(beneficiary_id: string): Promise<Account> {
    return runInActivity(
      this.#runtime,
      (client) => Effect.option(client.retrieveBeneficiary({ beneficiary_id })),
      (error) => toApplicationFailure(error, { nonRetryable: true }),
    ).then((found) => {
      const beneficiary: unknown = found._tag === "Some" ? found.value : undefined;
      const details = isRecord(beneficiary) ? beneficiary["beneficiary_bank_details"] : undefined;
      return accountIn(details, "bank_country_code");
    });
  }

  /**
   * Mark an account, so that it is known again: by the API key, as a number with few unknown digits could be
   * guessed from a plain hash. With another API key all accounts are new.
   */
  async #markOf({ country = "", number }: Account): Promise<string | undefined> {
    if (number === undefined) return undefined;
    const { apiKey } = await optionsOf(this.#runtime);
    return createHmac("sha256", Redacted.value(apiKey))
      .update(JSON.stringify(["payee", country.toUpperCase(), plain(number)]))
      .digest("base64url");
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
