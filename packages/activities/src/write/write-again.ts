import { MadeByAnother } from "@durable-payments/ledger";

/** Waits before the outcome of a send is written again, where the ledger did not answer. */
const AGAIN_AFTER_MS = [100, 1_000, 5_000];

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Writes the outcome of a send, which is a fact that only this process has: again, where the ledger does not answer.
 *
 * @returns what `write` returns.
 * @throws the last error of `write`; `MadeByAnother` at once.
 */
export const writeAgain = async <A>(write: () => Promise<A>): Promise<A> => {
  for (const waitMs of AGAIN_AFTER_MS) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof MadeByAnother) throw error;
      await pause(waitMs);
    }
  }
  return write();
};
