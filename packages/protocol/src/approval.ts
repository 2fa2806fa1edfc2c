import type { CreateBeneficiaryInput } from "@durable-payments/api-core";
import { defineUpdate } from "./message-definitions.ts";

/** When a second person has to approve. */
export interface ApprovalOptions {
  /** Amounts above this, a decimal string in the payment's currency. */
  readonly above: string;
}

/** A field that was amended since the run was started, as a person is shown it. */
export interface AmendedField {
  /** Its path: `payout.amount`. */
  readonly field: string;
  /** Empty where it was not there. */
  readonly before: string;
  readonly after: string;
}

/** Whom a payment pays: a beneficiary that the service knows, or one that is created first. */
export type Payee =
  | { readonly beneficiary_id: string }
  | { readonly beneficiary: CreateBeneficiaryInput };

/** What the approver of a payment is shown of its payee: never the whole number of an account. */
export interface DescribedPayee {
  readonly account_holder: string;
  readonly bank_country: string;
  readonly bank_name?: string;
  readonly swift_code?: string;
  readonly clearing_system?: string;
  /** With their types: `aba 021000021`. */
  readonly routing_code?: string;
  /** The last four characters: `…4321`. */
  readonly iban?: string;
  /** The last four characters: `…4321`. */
  readonly account_number?: string;
  /** Whether this account was paid before, as the journal has it; `unknown` where there is no journal. */
  readonly paid_before: string;
  /** Stands for all details of a beneficiary that the service knows: nobody is shown it. */
  readonly mark?: string;
}

/** A payment that waits for a second person. */
export interface ApprovalRequest {
  /** What is to be approved; account numbers are not in it. */
  readonly payment: Readonly<Record<string, unknown>>;
  /** Stands for the whole payload: an approval names it, and holds for nothing else. */
  readonly hash: string;
  /** Why it has to be approved: `above 1000.00 USD (PAYMENTS_APPROVE_ABOVE)`. */
  readonly why?: string;
  /** Who started the run, and cannot approve it. */
  readonly startedBy: string | undefined;
  /** Who amended the payment since, and cannot approve it either; mostly left out. */
  readonly amendedBy?: ReadonlyArray<string>;
  /** What was amended; of account numbers the last four characters. Mostly left out. */
  readonly amended?: ReadonlyArray<AmendedField>;
  /** Who had something sent again that may have been carried out, and cannot approve it; mostly left out. */
  readonly resentBy?: ReadonlyArray<string>;
  /** Who overruled a person who had ended the run, and cannot approve it either; mostly left out. */
  readonly overruledBy?: ReadonlyArray<string>;
  /** Who started what a person had rejected of it before, and cannot approve it; mostly left out. */
  readonly rejectedOf?: ReadonlyArray<string>;
  /** ISO 8601. */
  readonly since: string;
}

/** A second person's decision. */
export type Approval = { readonly by: string; readonly hash: string } & (
  | { readonly approve: true }
  | { readonly reject: string }
);

/** Approves or rejects a payment that waits for a second person. */
export const approveUpdate = defineUpdate<Approval>("approve");
