import type { OperationName } from "@durable-payments/api-core";
import type { Simulator } from "@durable-payments/simulator";
import { pause } from "./test-clock.ts";

/** Crashes that a test has ordered. */
export interface Crashes {
  /** Orders a crash after the next request to an operation. */
  readonly after: (operation: OperationName) => Promise<void>;
  /** @throws where a crash that was ordered did not come to pass, or failed. */
  readonly end: () => Promise<void>;
}

const LOOK_EVERY_MS = 5;

/** A crash that was ordered. */
interface Ordered {
  readonly operation: OperationName;
  readonly done: Promise<boolean>;
}

/**
 * Let a worker crash between a send and its answer: the service carries the request out and keeps the answer back, and
 * the worker is ended meanwhile.
 *
 * @param crash ends the worker, and starts another one.
 * @param failed is called with the error where that fails.
 */
export const crashOn = ({
  crash,
  failed,
  simulator,
}: {
  readonly simulator: Simulator;
  readonly crash: () => Promise<void>;
  readonly failed: (error: unknown) => void;
}): Crashes => {
  const over = new AbortController();
  const ordered: Array<Ordered> = [];

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
    after: async (operation) => {
      const index = (await simulator.faults()).length;
      await simulator.addFault({ kind: "stalled", operation });
      const done = strike(index);
      done.catch(failed);
      ordered.push({ operation, done });
    },
    end: async () => {
      over.abort();
      const ended = await Promise.all(
        ordered.map(async ({ done, operation }) => ({ operation, isDone: await done })),
      );
      const missed = ended.find(({ isDone }) => !isDone);
      if (missed !== undefined) {
        throw new Error(
          `The worker was to crash after ${missed.operation}, but no run has sent that: the test shows nothing. Order the crash before the run that sends it, and wait for the run.`,
        );
      }
    },
  };
};
