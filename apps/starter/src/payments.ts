import { openPayments, type Payments } from "@durable-payments/control/payments";

let opened: Payments | undefined;

/** Calls a function with the payments of these settings, and closes them. A server is connected when it is needed. */
export const withPayments = async <A>(use: (payments: Payments) => Promise<A>): Promise<A> => {
  await using payments = await openPayments();
  opened = payments;
  return await use(payments);
};

/** Returns the name of an account of these settings; its hash if it has none. */
export const accountName = (hash: string): string =>
  opened?.accounts.find((one) => one.hash === hash)?.name ?? hash;
