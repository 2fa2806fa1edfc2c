import type { AccountLimits, Actor, Amounts } from "@durable-payments/ledger";
import { answer } from "../../src/actions/decide/index.ts";
import { recover } from "../../src/actions/recovery.ts";
import { pause, resume } from "../../src/actions/stopping.ts";
import { ADA, type Attempt, GRACE, type Kind } from "./attempt.ts";
import { LOST, POLICY } from "./stack.ts";
import { approveRead } from "../support/approving.ts";

// What Ada changes for all payments: limits, workers, the log, the epoch of the ledger, what a list shows. These attempts
// come one after the other, and after all others.

/** A large payment, started now, asks. */
const stillAsks = async (the: Attempt, id = the.id) => {
  await the.start(the.input(the.toMallory), id);
  return the.asks(id);
};

/** A payment that was approved and made. */
const paid = async (the: Attempt) => {
  const payment = the.payment();
  await the.start(the.input(payment));
  await the.graceApproves(the.id, payment);
  await the.handle(the.id).result();
};

const again = async (the: Attempt) => {
  const input = the.input(the.toMallory);
  await the.startBare(input, the.id, { workflowIdReusePolicy: "ALLOW_DUPLICATE" });
  return the.asksOrFails(the.id);
};

/** Sets the limits of the account as a decision. */
const limit = ({ stack }: Attempt, approveAbove: Amounts | null, acting: Actor = ADA) =>
  stack.operations.ledger.setLimits(stack.account, { maxAmounts: null, approveAbove }, acting);

/** After it, the limits are as before. */
const loosening = (
  name: string,
  steps: (the: Attempt, limits: AccountLimits) => Promise<unknown>,
  to: Amounts | null = LOOSE,
): Kind => ({
  name,
  steps: async (the) => {
    await steps(the, await limit(the, to));
    await stillAsks(the);
    await limit(the, POLICY);
  },
});

const LOOSE = { EUR: "99999.00", USD: "99999.00" };

/** Attempts that concern everything. */
export const BY_LIMITS: ReadonlyArray<Kind> = [
  loosening("loosens the limits alone", async () => undefined),
  loosening("loosens the limits alone, by removing them", async () => undefined, null),
  loosening("loosens the limits alone, by a currency more", async () => undefined, {
    ...POLICY,
    USD: "99999.00",
  }),
  loosening("loosens the limits and approves that", ({ stack }, { pending }) =>
    stack.operations.ledger.approveLimits(stack.account, pending?.sequence ?? 0, ADA),
  ),
  loosening("loosens the limits and approves that in another spelling", ({ stack }, { pending }) =>
    stack.operations.ledger.approveLimits(stack.account, pending?.sequence ?? 0, {
      ...ADA,
      by: "A.D.A",
    }),
  ),
  {
    name: "has a payment approved before the limits change, and sends it after that",
    steps: async (the) => {
      const { operations } = the.stack;
      const payment = the.payment();
      await the.start(the.input(payment, await the.known(payment.to)));
      await the.asks(the.id);
      await pause(operations, the.id, ADA);
      await approveRead(operations, the.id, GRACE);
      await limit(the, { EUR: "90.00" });
      await resume(operations, the.id, ADA);
      await the.retry(the.id);
      await the.asks(the.id);
      await limit(the, POLICY, GRACE);
    },
  },
  {
    name: "starts a worker with higher limits last",
    steps: async (the) => {
      await the.stack.startWorker({ EUR: "99999.00", USD: "99999.00" });
      return stillAsks(the);
    },
  },
  {
    name: "starts a worker without settings last",
    steps: async (the) => {
      await the.stack.startWorker();
      return stillAsks(the);
    },
  },
  {
    name: "prunes the approvals, then pays again under the id",
    steps: async (the) => {
      await paid(the);
      const { ledger } = the.stack.operations;
      await ledger.prune((await ledger.state()).now + 1, ADA).catch(() => undefined);
      await again(the);
      const write = await the.write(the.payment(), { step: "again" });
      await the.calls("createPayout", write, the.id);
    },
  },
  {
    name: "recovers, then pays again under the id",
    steps: async (the) => {
      await paid(the);
      await recover(the.stack.operations, { ...ADA, isDryRun: false });
      await again(the);
    },
  },
  // The last one: others that reconcile would ask about a payment that is listed without its key.
  {
    name: "has another person's payment sent again, and approves himself",
    steps: async (the) => {
      const { operations } = the.stack;
      // The list shows keys, but not that of the payment.
      const small = the.payment({ amount: "10.00" });
      the.isSmall(small);
      await the.start(the.input(small), `${the.id}/small`);
      await the.paid();
      const payment = the.payment({ reference: `${the.id} ${LOST}` });
      await the.start(the.input(payment), the.id, "linus");
      await the.graceApproves(the.id, payment);
      const question = await the.until("a question about the payout", async () =>
        (await operations.ledger.rowsOf(the.id)).find(
          ({ question }) => question?.kind === "outcome",
        ),
      );
      const given = { ...ADA, question: question.question?.id ?? "" };
      await answer(operations, the.id, { ...given, choose: "resend" });
      await the.cannotApprove(the.id);
    },
  },
];
