import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessOptions, StartedProcess } from "../processes/spawn-process.ts";

/** How a process of the cluster is started, killed, and when it is ready. */
export interface ClusterProcess {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly options: Pick<ProcessOptions, "cwd" | "user">;
  /** The signal that ends it at once, with nothing put in order. */
  readonly killedBy: NodeJS.Signals;
  readonly ready: (started: StartedProcess) => Promise<void>;
}

/** How long a process of the cluster may take to be ready, on a machine with other work. */
export const ENOUGH_MS = 120_000;

const ASK_EVERY_MS = 100;

/** Ask again and again until the answer is yes, as long as `within` waits for that. */
export const repeatedly = async (
  isSo: () => Promise<boolean>,
  within: (soAtLast: Promise<void>) => Promise<void>,
): Promise<void> => {
  const over = new AbortController();
  const asking = async () => {
    while (!over.signal.aborted && !(await isSo())) await sleep(ASK_EVERY_MS);
  };
  const asked = asking();
  try {
    await within(asked);
  } finally {
    over.abort();
    // What is asked by a connection must not be asked again once that is closed.
    await asked;
  }
};
