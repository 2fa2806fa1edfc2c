import type { Attempt, Kind } from "./attempt.ts";
import type { Payment } from "./payment.ts";

// What Ada writes into a request: amounts, currencies, options, and amendments of what Grace has approved.

/** A payment that Grace approves and the service refuses, because the account has another currency: it can be amended. */
const refusedAfterApproval = async (the: Attempt, changes: Partial<Payment> = {}) => {
  const payment = the.payment({
    to: { ...the.payees.honest, account_currency: "USD" },
    ...changes,
  });
  const beneficiary_id = await the.known(payment.to);
  return { payment, input: the.input(payment, beneficiary_id) };
};

/** Grace approves, the service refuses, Ada amends: Grace is asked again. */
const amending = (name: string, patchOf: (the: Attempt) => Promise<object>): Kind => ({
  name: `amends an approved payment: ${name}`,
  steps: async (the) => {
    const { input, payment } = await refusedAfterApproval(the);
    await the.start(input);
    await the.graceApproves(the.id, payment);
    await the.fails(the.id);
    await the.retry(the.id, { patch: await patchOf(the) });
    return the.asks(the.id);
  },
});

const toMallory = async (the: Attempt) => ({ beneficiary_id: await the.known(the.payees.mallory) });

/** Started as it is, the payment asks. */
const asking = (
  name: string,
  inputOf: (the: Attempt) => object,
  how: "start" | "startBare" = "start",
): Kind => ({
  name,
  steps: async (the) => {
    await the[how](inputOf(the));
    return the.asks(the.id);
  },
});

/** Started by Temporal's client, the payment asks or fails. */
const notPaid = (name: string, inputOf: (the: Attempt) => object): Kind => ({
  name,
  steps: async (the) => {
    await the.startBare(inputOf(the));
    return the.asksOrFails(the.id);
  },
});

const written = (the: Attempt, payout: object) => {
  const input = the.input(the.payment());
  return { ...input, payout: { ...input.payout, ...payout } };
};

/** Attempts by what a request says. */
export const ON_REQUESTS: ReadonlyArray<Kind> = [
  asking("an option raises the limit", (the) => ({
    ...the.input(the.payment()),
    options: { approval: { above: "99999.00" } },
  })),
  notPaid("options are null", (the) => ({ ...the.input(the.payment()), options: null })),
  notPaid("the option is no amount", (the) => ({
    ...the.input(the.payment()),
    options: { approval: { above: "a lot" } },
  })),
  asking("an unlisted currency", (the) =>
    the.input(the.payment({ currency: "USD", amount: "5.00", to: inDollars(the) })),
  ),
  asking("an unlisted currency with an option", (the) => ({
    ...the.input(the.payment({ currency: "USD", to: inDollars(the) })),
    options: { approval: { above: "99999.00" } },
  })),
  ...["9e2", "0900.00", "900,00", "+900.00", " 900.00", "900.00\u200B", "٩٠٠"].map((amount) =>
    notPaid(`an amount in another notation: ${JSON.stringify(amount)}`, (the) =>
      written(the, { amount }),
    ),
  ),
  ...["eur", "EUR ", "ＥＵＲ", "constructor"].map((currency) =>
    notPaid(`a currency in another notation: ${JSON.stringify(currency)}`, (the) =>
      written(the, { currency }),
    ),
  ),
  amending("payee", toMallory),
  amending("amount", async (the) => ({
    beneficiary_id: await the.known(the.payees.honest),
    payout: { amount: "9000.00" },
  })),
  amending("a smaller amount to another payee", async (the) => ({
    ...(await toMallory(the)),
    payout: { amount: "90.00" },
  })),
  amending("reference", async (the) => ({
    beneficiary_id: await the.known(the.payees.honest),
    payout: { payout_reference: `${the.id} Another` },
  })),
  amending("options null", async (the) => ({ ...(await toMallory(the)), options: null })),
  amending("options raised", async (the) => ({
    ...(await toMallory(the)),
    options: { approval: { above: "99999.00" } },
  })),
  {
    name: "amends a payment that only its own option had approved: options null",
    steps: async (the) => {
      const { input, payment } = await refusedAfterApproval(the, { amount: "60.00" });
      await the.start({ ...input, options: { approval: { above: "50.00" } } });
      await the.graceApproves(the.id, payment);
      await the.fails(the.id);
      await the.retry(the.id, { patch: { ...(await toMallory(the)), options: null } });
      return the.asks(the.id);
    },
  },
  {
    name: "amends a small payment that nobody had to approve to a large one",
    steps: async (the) => {
      const { input } = await refusedAfterApproval(the, { amount: "50.00" });
      await the.start(input);
      await the.fails(the.id);
      const patch = { ...(await toMallory(the)), payout: { amount: "900.00" } };
      await the.retry(the.id, { patch });
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "amends another person's payment, and approves that",
    steps: async (the) => {
      const { input, payment } = await refusedAfterApproval(the);
      await the.start(input, the.id, "linus");
      await the.graceApproves(the.id, payment);
      await the.fails(the.id);
      await the.retry(the.id, { patch: await toMallory(the) });
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "a card instead of a payout",
    steps: async (the) => {
      const { operations } = the.stack;
      const person = { first_name: "Ada", last_name: the.id, email: `${the.id}@example.com` };
      await the.onboard(person, "900.00");
      await the.asks(the.id);
      const cards = (await the.stack.home.state()).cards.length;
      if (cards > 0) throw new Error(`${cards} cards were issued on ${operations.account}`);
    },
  },
];

function inDollars(the: Attempt) {
  const { iban, ...payee } = the.payees.mallory;
  return { ...payee, iban: iban ?? "", account_currency: "USD" };
}
