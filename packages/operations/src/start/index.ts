export { type PaymentOf, paymentOf, summaryOf } from "./start-payment.ts";
export { firstVoucher, startPayment, type StartPaymentOptions } from "./start-payment.ts";
export { startRun, type StartOptions, type SubmittedRun } from "./start-run.ts";
