export { CARD_CURRENCY } from "./contract/cards.ts";
export { PayerSchema } from "./contract/payers.ts";
export { Refusal, REFUSAL_CODE, SUCCESS_CODE } from "./contract/answers.ts";
export { PaymentsApi } from "./contract/payments-api.ts";
export {
  API_KEY_HEADER,
  CLIENT_ID_HEADER,
  SignedIn,
  TOKEN_HEADER,
} from "./contract/operation-facts.ts";
export { fromWire } from "./contract/wire-names.ts";
export { checkInput } from "./client/check-request.ts";
export { operation } from "./client/operations.ts";
