import { isCancellation } from "@temporalio/workflow";
import { activities } from "../run/activities.ts";

/**
 * Awaits, however long it takes, that the service can be reached: the retries of a read add nothing
 * to the history, where sending again and again would.
 */
export const serviceAnswers = async (): Promise<void> => {
  try {
    await activities.ping.executeWithOptions({ summary: "Await the service" }, [{}]);
  } catch (error) {
    // Whatever else is wrong, the next request itself will tell.
    if (isCancellation(error)) throw error;
  }
};
