import {
  awaitFunds,
  awaitVerification,
  confirmCard,
  createCardholder,
  createPayout,
  freezeCard,
  issueCard,
  undo,
} from "@durable-payments/workflows";
import type { PayoutInput, Workflows } from "@durable-payments/protocol";
import { ApplicationFailure, executeChild, proxyActivities, sleep } from "@temporalio/workflow";

export * from "@durable-payments/workflows/definitions";

const { reserve } = proxyActivities<{ reserve: () => Promise<void> }>({
  startToCloseTimeout: "1 minute",
});

/** A user's own workflow: an activity, a payout, and words of its own about a failure. */
export const payReserved = async (request: Parameters<typeof createPayout>[0]): Promise<void> => {
  await reserve();
  try {
    await createPayout(request);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw ApplicationFailure.create({ message: "The goods stay reserved.", cause });
  }
};

/** A run that waits before its first write, as many do for a signal. */
export const waitThenPay = async (request: Parameters<typeof createPayout>[0]): Promise<void> => {
  await reserve();
  await sleep("14 days");
  await createPayout(request);
};

/** Its code fails: a plain Error fails the workflow task, not the run. */
export const failInCode = async (): Promise<never> => {
  throw new Error("The code is broken.");
};

/** Pays by a child. */
export const payByChild = (workflowId: string, input: PayoutInput): Promise<unknown> =>
  executeChild<Workflows["payout"]>("payout", { workflowId, args: [input] });

/** Pays by a child, and then a payout of its own. */
export const payByChildAndOwn = async (
  workflowId: string,
  input: PayoutInput,
  request: Parameters<typeof createPayout>[0],
): Promise<void> => {
  await payByChild(workflowId, input);
  await createPayout(request);
};

/** Pays under a key, once a second person has approved it. */
export const payKeyed = async (
  key: string,
  request: Parameters<typeof createPayout>[0],
): Promise<string> => (await createPayout(request, { key, approval: { above: "1.00" } })).payout_id;

/** Issues a card that stays frozen until it is used. A card that cannot be frozen is cancelled. */
export const issueFrozenCard = async (
  person: Parameters<typeof createCardholder>[0],
  card: Pick<Parameters<typeof issueCard>[0], "card_limit" | "product_code">,
): Promise<string> => {
  const { card_holder_id } = await createCardholder(person);
  await awaitVerification({ card_holder_id });
  const { balance_id } = await awaitFunds({ amount: card.card_limit, currency: "USD" });
  const { card_id } = await issueCard({ ...card, card_holder_id, balance_id });
  try {
    await confirmCard({ card_id }, { card_name: "Travel" });
    await freezeCard({ card_id });
  } catch (error) {
    await undo("createCard");
    throw error;
  }
  return card_id;
};
