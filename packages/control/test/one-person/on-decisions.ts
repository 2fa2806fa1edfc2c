import { ADA, type Attempt, GRACE, type Kind } from "./attempt.ts";
import type { Payee } from "./payment.ts";
import { pause, resume, cancel } from "../../src/actions/stopping.ts";
import { approve, reject } from "../../src/actions/decide/index.ts";
import { readHash } from "../support/approving.ts";

// What Ada decides: approvals under her name and names like it, overrules, resends, and decisions about what has changed.

/** Ada in other spellings, and in letters of other alphabets that look like hers. */
const NAMES = {
  "in capitals": "ADA",
  "with an accent": "\u00E1da",
  "in full width": "\uFF41\uFF44\uFF41",
  "with zero width": "a\u200Bd\u2060a",
  "with blanks": " a d a ",
  "with punctuation": "a.d-a",
  "in mathematical letters": "\u{1D41A}\u{1D41D}\u{1D41A}",
  "with a Cyrillic letter": "\u0430da",
  "with a Greek letter": "\u03B1da",
  "of Cyrillic letters": "\u0430\u0501\u0430",
  "with a Cherokee letter": "\u13AAda",
} as const;

/** Ada creates a beneficiary that reads like the honest one, before an honest person pays that. */
const poisoning = (
  to: "honest" | "numbered",
  name: string,
  payeeOf: (the: Attempt) => Payee,
): Kind => ({
  name: `prepares a beneficiary for another person's payment to reuse: ${name}`,
  steps: async (the) => {
    const payment = the.payment({ to: the.payees[to] });
    const forged = { step: "createBeneficiary", rootId: `${the.id}/prepared` };
    const write = await the.write(payment, { ...forged, request: payeeOf(the) });
    await the.makes("createBeneficiary", write);
    await the.start(the.input(payment), the.id, "linus");
    await the.graceApproves(the.id, payment);
    await the.paid();
  },
});

/** Attempts by decisions. */
export const ON_DECISIONS: ReadonlyArray<Kind> = [
  {
    name: "approves himself",
    steps: async (the) => the.cannotApprove(await the.start(the.input(the.payment()))),
  },
  ...Object.entries(NAMES).map(
    ([how, name]) =>
      ({
        name: `approves himself under his name ${how}`,
        steps: async (the) => the.cannotApprove(await the.start(the.input(the.payment())), name),
      }) satisfies Kind,
  ),
  {
    name: "approves himself under no name",
    steps: async (the) => the.cannotApprove(await the.start(the.input(the.payment())), "\u200B"),
  },
  {
    name: "overrules a stop order alone",
    steps: async (the) => {
      const { operations } = the.stack;
      await the.start(the.input(the.payment({ amount: "50.00" }), await the.refusing()));
      await the.fails(the.id);
      await cancel(operations, the.id, GRACE);
      const patch = { beneficiary_id: await the.known(the.payees.honest) };
      await the.retry(the.id, { isOverruling: true, patch });
      return the.asks(the.id);
    },
  },
  {
    name: "overrules a stop order on another person's payment, and approves himself",
    steps: async (the) => {
      const { operations } = the.stack;
      await the.start(the.input(the.payment()), the.id, "linus");
      await the.asks(the.id);
      await cancel(operations, the.id, GRACE);
      await the.fails(the.id);
      await the.retry(the.id, { isOverruling: true });
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "overrules the rejection of his payment",
    steps: async (the) => {
      const { operations } = the.stack;
      await the.start(the.input(the.payment()));
      const { question } = await the.asks(the.id);
      await reject(operations, the.id, { ...GRACE, question: question?.id });
      await the.fails(the.id);
      await the.retry(the.id, { isOverruling: true });
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "retries what waits for an approval",
    steps: async (the) => {
      await the.start(the.input(the.payment()));
      await the.asks(the.id);
      await the.retry(the.id);
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "restarts a rejected payment from the beginning",
    steps: async (the) => {
      const { operations } = the.stack;
      await the.start(the.input(the.payment()));
      const { question } = await the.asks(the.id);
      await reject(operations, the.id, { ...GRACE, question: question?.id });
      await the.fails(the.id);
      return the.refused(the.retry(the.id, { isRestarted: true }));
    },
  },
  {
    name: "lets Grace approve an older content",
    steps: async (the) => {
      const { operations } = the.stack;
      await the.start(the.input(the.payment()));
      const read = await the.asks(the.id);
      const hash = await readHash(operations, the.id);
      await the.handle(the.id).terminate("Ada");
      await the.retry(the.id, {
        patch: { beneficiary_id: await the.known(the.payees.mallory), beneficiary: null },
      });
      await the.asksAgain(the.id, read);
      await the.refused(approve(operations, the.id, { ...GRACE, hash }));
      return the.asks(the.id);
    },
  },
  ...(["at the service", "by a step"] as const).flatMap((where) =>
    (["numbered", "honest"] as const).map((which): Kind => ({
      name: `changes the account ${which === "honest" ? "number beside an IBAN" : "number"} of the payee after the approval, ${where}`,
      steps: async (the) => {
        const { operations, service } = the.stack;
        const payment = the.payment({ to: the.payees[which] });
        const beneficiary_id = await the.known(payment.to);
        await the.start(the.input(payment, beneficiary_id));
        const asked = await the.asks(the.id);
        await pause(operations, the.id, ADA);
        await the.graceApproves(the.id, payment);
        const change = the.redirected(beneficiary_id, payment.to);
        if (where === "at the service") await service.updateBeneficiary(change);
        else {
          const call = await the.write(payment, {
            step: "change",
            rootId: `${the.id}/change`,
            request: change,
          });
          await the.makes("updateBeneficiary", call);
        }
        await resume(operations, the.id, ADA);
        return the.asksAgain(the.id, asked);
      },
    })),
  ),
  poisoning("honest", "an account number beside the IBAN", ({ payees }) => ({
    ...payees.honest,
    account_number: payees.otherNumber,
  })),
  poisoning("numbered", "the number at another bank", ({ payees }) => ({
    ...payees.numbered,
    swift_code: "MALLUS33",
  })),
  {
    name: "changes the payee's account before the approval of what was read",
    steps: async (the) => {
      const payment = the.payment({ to: the.payees.numbered });
      const beneficiary_id = await the.known(payment.to);
      await the.start(the.input(payment, beneficiary_id));
      const asked = await the.asks(the.id);
      await the.stack.service.updateBeneficiary(the.redirected(beneficiary_id, payment.to));
      await the.graceApproves(the.id, payment);
      return the.asksAgain(the.id, asked);
    },
  },
];
