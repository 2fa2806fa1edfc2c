export { PongSchema } from "./contract/auth.ts";
export {
  BalanceBankDetailsSchema,
  BalanceSchema,
  CreateBalanceInputSchema,
  FundingAccountSchema,
  RetrieveBalanceBankDetailsInputSchema,
  RetrieveBalanceInputSchema,
} from "./contract/balances.ts";
export {
  BankDetailsSchema,
  BeneficiaryAddressSchema,
  BeneficiarySchema,
  CreateBeneficiaryInputSchema,
  CreatedBeneficiarySchema,
  RetrieveBeneficiaryInputSchema,
} from "./contract/beneficiaries.ts";
export {
  CardholderSchema,
  CreateCardholderInputSchema,
  CreatedCardholderSchema,
  ListCardholdersInputSchema,
  RemoveCardholderInputSchema,
} from "./contract/cardholders.ts";
export {
  CARD_CURRENCY,
  CancelCardInputSchema,
  CardSchema,
  CardWithdrawalSchema,
  CreateCardInputSchema,
  FreezeCardInputSchema,
  UpdateCardInputSchema,
  WithdrawFromCardInputSchema,
} from "./contract/cards.ts";
export { UnreadableRowSchema } from "./contract/list-page.ts";
export { PayerSchema } from "./contract/payers.ts";
export {
  CreatePayoutInputSchema,
  ListPayoutsInputSchema,
  PayoutSchema,
  RetrievePayoutInputSchema,
} from "./contract/payouts.ts";
export { ListTransactionsInputSchema, TransactionSchema } from "./contract/transactions.ts";
export { Refusal, REFUSAL_CODE, SUCCESS_CODE } from "./contract/envelope.ts";
export { Idempotency } from "./contract/operation-facts.ts";
export { PaymentsApi } from "./contract/payments-api.ts";
export { API_KEY_HEADER, CLIENT_ID_HEADER, SignedIn, TOKEN_HEADER } from "./contract/signed-in.ts";
export { fromWire, wireMethod } from "./contract/wire-names.ts";
export { checkInput } from "./client/check-request.ts";
export { operation } from "./client/operations.ts";
