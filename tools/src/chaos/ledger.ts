/** The ledger of the simulator, as far as it is read here (apps/simulator/src/ledger/records.ts). */
export interface Ledger {
  readonly balances: ReadonlyArray<{
    readonly currency: string;
    readonly available_balance: string;
  }>;
  readonly beneficiaries: ReadonlyArray<{
    readonly beneficiary_id: string;
    readonly details: Readonly<Record<string, string>>;
  }>;
  readonly payouts: ReadonlyArray<PayoutRecord>;
  readonly cardholders: ReadonlyArray<CardholderRecord>;
  readonly cards: ReadonlyArray<CardRecord>;
}

export interface PayoutRecord {
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
}

export interface CardholderRecord {
  readonly card_holder_id: string;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly removed: boolean;
}

export interface CardRecord {
  readonly card_id: string;
  readonly card_holder_id: string;
  readonly card_limit: string;
  readonly card_name: string;
  readonly card_status: string;
  readonly unique_request_id: string;
}
