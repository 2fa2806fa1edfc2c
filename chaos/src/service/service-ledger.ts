/** What a service knows, whatever it shows: as the simulator's state has it (packages/simulator/src/ledger/records.ts). */
export interface ServiceLedger {
  readonly balances: ReadonlyArray<{
    readonly currency: string;
    readonly available_balance: string;
  }>;
  readonly beneficiaries: ReadonlyArray<BeneficiaryRecord>;
  readonly payouts: ReadonlyArray<PayoutRecord>;
  readonly cardholders: ReadonlyArray<CardholderRecord>;
  readonly cards: ReadonlyArray<CardRecord>;
}

interface BeneficiaryRecord {
  readonly beneficiary_id: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A payout; times are ISO 8601, by the clock of this machine whatever the service shows. */
export interface PayoutRecord {
  readonly payout_id: string;
  readonly payout_status: string;
  readonly amount: string;
  readonly currency: string;
  readonly beneficiary_id: string;
  readonly payout_reason: string;
  /** Whether its money went back to the balance. */
  readonly returned: boolean;
  readonly create_time: string;
}

interface CardholderRecord {
  readonly card_holder_id: string;
  readonly email: string;
  readonly removed: boolean;
  readonly create_time: string;
}

interface CardRecord {
  readonly card_id: string;
  readonly card_holder_id: string;
  readonly card_limit: string;
  readonly card_status: string;
  /** Missing where the service does not keep it. */
  readonly create_time?: string;
}
