/** The ledger of the simulator, as far as it is read here (packages/simulator/src/ledger/records.ts). */
export interface Ledger {
  readonly balances: ReadonlyArray<{
    readonly currency: string;
    readonly available_balance: string;
  }>;
  readonly beneficiaries: ReadonlyArray<BeneficiaryRecord>;
  readonly payouts: ReadonlyArray<PayoutRecord>;
  readonly cardholders: ReadonlyArray<CardholderRecord>;
  readonly cards: ReadonlyArray<CardRecord>;
}

/** Times of the ledger are ISO 8601, by the clock of this machine whatever the service shows. */
interface Created {
  readonly create_time: string;
}

interface BeneficiaryRecord extends Created {
  readonly beneficiary_id: string;
  readonly details: Readonly<Record<string, string>>;
}

/** A payout in the ledger. */
export interface PayoutRecord extends Created {
  readonly payout_id: string;
  readonly payout_status: string;
  readonly short_reference: string;
  readonly amount: string;
  readonly currency: string;
  readonly beneficiary_id: string;
  readonly payout_reason: string;
  readonly payout_reference: string;
  readonly unique_request_id?: string;
  /** Whether its money went back to the balance. */
  readonly returned: boolean;
  readonly update_time: string;
}

interface CardholderRecord extends Created {
  readonly card_holder_id: string;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly card_holder_status: string;
  readonly removed: boolean;
}

interface CardRecord extends Created {
  readonly card_id: string;
  readonly card_holder_id: string;
  readonly card_limit: string;
  readonly card_name: string;
  readonly card_status: string;
  readonly unique_request_id: string;
}
