export { similarText } from "./duplicates.ts";
export { type PaymentOf, paymentOf, summaryOf } from "./payment-of.ts";
export { firstVoucher, startPayment, type StartPaymentOptions } from "./start-payment.ts";
export { startRun, type StartOptions, type SubmittedRun } from "./start-run.ts";
