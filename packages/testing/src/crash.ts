import type { OperationName } from "@durable-payments/api-core";
import type { Simulator } from "@durable-payments/simulator";
import { pause } from "./test-server.ts";

const LOOK_EVERY_MS = 5;

/**
 * Lets a worker crash between a send and its answer: the service carries the request out and withholds the answer, and
 * the worker is ended meanwhile.
 *
 * @param crash ends the worker, and starts another one.
 * @param failed is called with the error if that fails.
 * @returns `after` orders a crash after the next request to an operation; `end` throws for an order that did not happen.
 */
export const crashOn = (
  simulator: Simulator,
  crash: () => Promise<void>,
  failed: (error: unknown) => void,
) => {
  const over = new AbortController();
  const ordered: Array<readonly [operation: OperationName, isDone: Promise<boolean>]> = [];
  const strike = async (index: number): Promise<boolean> => {
    while (!over.signal.aborted) {
      if (((await simulator.faults())[index]?.fired ?? 0) > 0) {
        await crash();
        return true;
      }
      await pause(LOOK_EVERY_MS);
    }
    return false;
  };
  return {
    after: async (operation: OperationName): Promise<void> => {
      const index = (await simulator.faults()).length;
      await simulator.addFault({ kind: "stalled", operation });
      const isDone = strike(index);
      isDone.catch(failed);
      ordered.push([operation, isDone]);
    },
    end: async (): Promise<void> => {
      over.abort();
      for (const [operation, isDone] of ordered) {
        if (await isDone) continue;
        throw new Error(
          `The worker was to crash after ${operation}, but no run sent it, so the test proves nothing. Call crashAfter before the run that sends it, and wait for the run.`,
        );
      }
    },
  };
};
