import type { PaymentsActivities } from "../../src/index.ts";
import {
  type Nudge,
  nudgeSignal,
  type SeenPayout,
  WAIT_ATTEMPT,
  waitActivityId,
} from "@durable-payments/protocol/calls";
import { condition, proxyActivities, setHandler } from "@temporalio/workflow";

/** Waits for a payout, as the step does. */
export async function waitsForPayout(payout_id: string): Promise<SeenPayout> {
  const { awaitPayout } = proxyActivities<PaymentsActivities>({
    activityId: waitActivityId("awaitPayout", payout_id),
    startToCloseTimeout: WAIT_ATTEMPT,
    retry: { initialInterval: "1 hour" },
  });
  return awaitPayout({ payout_id });
}

/** Waits for a nudge. */
export async function waitsForNudge(): Promise<Nudge> {
  let nudge: Nudge | undefined;
  setHandler(nudgeSignal, (given) => {
    nudge = given;
  });
  await condition(() => nudge !== undefined);
  return nudge ?? {};
}
