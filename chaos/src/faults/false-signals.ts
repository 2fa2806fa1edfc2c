import { WorkflowNotFoundError } from "@temporalio/client";
import { pause } from "../delay.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { SimulatorSilent } from "../environment/simulator-control.ts";
import { call, isPassing } from "../environment/temporal-calls.ts";
import type { World } from "../environment/environment.ts";

interface FalseSignal {
  readonly workflowId: string;
  readonly name: "payoutEnded" | "cardholderChecked";
  readonly content: object;
}

const EVERY_MS = 3_000;

/** How likely a run that waits is told so each time. */
const SHARE = 0.15;

/**
 * Tells runs that what they wait for has ended well, while it has not: as a forger would, or a tracker
 * that reads a list which is not so.
 */
export const sendFalseSignals = async (
  world: World,
  runs: readonly PlannedRun[],
  {
    onSent,
    over,
    seed,
  }: { readonly onSent: () => void; readonly over: AbortSignal; readonly seed: number },
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
    const { cardholders, payouts } = await world.control.ledger();
    return [
      ...payouts
        .filter(({ payout_status }) => payout_status === "processing")
        .map(({ amount, currency, payout_id, payout_reason }) => ({
          workflowId: byMark.get(payout_reason) ?? "",
          name: "payoutEnded" as const,
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
          name: "cardholderChecked" as const,
          content: {
            outcome: "verified",
            cardholder: { card_holder_id, card_holder_status: "SUCCESS" },
          },
        })),
    ];
  };
  while (!over.aborted) {
    try {
      for (const { content, name, workflowId } of await find()) {
        if (!random.chance(SHARE) || over.aborted) continue;
        await call(world, (client) => client.workflow.getHandle(workflowId).signal(name, content));
        onSent();
      }
    } catch (error) {
      // The run has ended, or has been forgotten.
      const isGone = error instanceof WorkflowNotFoundError;
      if (!isGone && !isPassing(error) && !(error instanceof SimulatorSilent)) throw error;
    }
    await pause(EVERY_MS, over);
  }
};
