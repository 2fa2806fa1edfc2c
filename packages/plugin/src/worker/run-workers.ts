import type { Worker } from "@temporalio/worker";

/** A worker, and how it is run. */
export interface Member {
  readonly worker: Worker;
  readonly run: () => Promise<void>;
}

/** How soon it is seen that one drains: the SDK tells nobody. */
const LOOK_EVERY_MS = 100;

const isToRun = ({ worker }: Member): boolean =>
  ["INITIALIZED", "RUNNING"].includes(worker.getState());

/**
 * Run workers together until all have drained. Where one drains, by a signal or by `shutdown`, or fails, the others
 * drain, since a process that polls only some of the queues would look alive and do half.
 *
 * @param draining is aborted as soon as one drains; they drain at once where it is aborted already.
 * @throws the error of the one that failed first.
 */
export const runWorkers = async (
  members: ReadonlyArray<Member>,
  draining: AbortController,
): Promise<void> => {
  const drain = () => {
    draining.abort();
    for (const { worker } of members) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const look = setInterval(() => {
    if (draining.signal.aborted || !members.every(isToRun)) drain();
  }, LOOK_EVERY_MS);
  const failures: Array<unknown> = [];
  const running = members.map(({ run }) =>
    run()
      .catch((error: unknown) => failures.push(error))
      .finally(drain),
  );
  if (draining.signal.aborted) drain();
  await Promise.all(running);
  clearInterval(look);
  if (failures.length > 0) throw failures[0];
};
