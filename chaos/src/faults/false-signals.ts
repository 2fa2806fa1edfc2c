import { cardholderCheckedSignal, payoutEndedSignal } from "@durable-payments/protocol";
import { WorkflowNotFoundError } from "@temporalio/client";
import { delay } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import { SimulatorUnavailable } from "../environment/simulator-control.ts";
import { callTemporal, isTransient } from "../environment/temporal-calls.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";

interface FalseSignal {
  readonly workflowId: string;
  readonly name: string;
  readonly content: object;
}

const EVERY_MS = 3_000;

/** The probability that a run that waits receives one each time. */
const SHARE = 0.15;

/**
 * Signal to runs that what they wait for has ended well, while it has not: as a forger would, or a tracker
 * that reads a list which is wrong.
 */
export const sendFalseSignals = async (
  environment: Environment,
  runs: readonly PlannedRun[],
  {
    onSent,
    seed,
    signal,
  }: { readonly onSent: () => void; readonly seed: number; readonly signal: AbortSignal },
): Promise<void> => {
  const random = new Random(seed, "false signals");
  const byMark = new Map(
    runs.flatMap((run) =>
      run.kind === "onboarding"
        ? [[run.email, run.workflowId] as const]
        : run.payments.map(({ reason }) => [reason, run.workflowId] as const),
    ),
  );
  const find = async (): Promise<readonly FalseSignal[]> => {
    const { cardholders, payouts } = await environment.control.ledger();
    return [
      ...payouts
        .filter(({ payout_status }) => payout_status === "processing")
        .map(({ amount, currency, payout_id, payout_reason }) => ({
          workflowId: byMark.get(payout_reason) ?? "",
          name: payoutEndedSignal.name,
          content: {
            outcome: "completed",
            payout: {
              payout_id,
              amount,
              currency,
              payout_status: "completed",
              complete_time: new Date().toISOString(),
            },
          },
        })),
      ...cardholders
        .filter(({ card_holder_status }) => card_holder_status === "PENDING")
        .map(({ card_holder_id, email }) => ({
          workflowId: byMark.get(email) ?? "",
          name: cardholderCheckedSignal.name,
          content: {
            outcome: "verified",
            cardholder: { card_holder_id, card_holder_status: "SUCCESS" },
          },
        })),
    ];
  };
  while (!signal.aborted) {
    try {
      for (const { content, name, workflowId } of await find()) {
        if (!random.chance(SHARE) || signal.aborted) continue;
        await callTemporal(environment, (client) =>
          client.workflow.getHandle(workflowId).signal(name, content),
        );
        onSent();
      }
    } catch (error) {
      // The run has ended, or has been forgotten.
      const isGone = error instanceof WorkflowNotFoundError;
      if (!isGone && !isTransient(error) && !(error instanceof SimulatorUnavailable)) throw error;
    }
    await delay(EVERY_MS, signal);
  }
};
