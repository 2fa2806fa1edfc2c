import type { Worker } from "@temporalio/worker";
import { expect, it } from "vitest";
import { runWorkers } from "../src/run-queues.ts";

/** A worker that runs until it is to drain, or fails. */
const fakeWorker = () => {
  const ended = Promise.withResolvers<void>();
  let state = "INITIALIZED";
  const worker = {
    run: async () => {
      state = "RUNNING";
      await ended.promise;
    },
    getState: () => state,
    shutdown: () => {
      state = "DRAINED";
      ended.resolve();
    },
  };
  return {
    // Of a worker, only these are used.
    worker: worker as unknown as Worker,
    state: () => state,
    fail: (error: Error) => {
      state = "FAILED";
      ended.reject(error);
    },
    drain: worker.shutdown,
  };
};

it("where one worker fails the others drain, and the process ends with its error", async () => {
  const [one, other, third] = [fakeWorker(), fakeWorker(), fakeWorker()];
  const running = runWorkers([one, other, third].map(({ worker }) => worker));
  other.fail(new Error("lost"));
  await expect(running).rejects.toThrow("lost");
  expect([one, other, third].map(({ state }) => state())).toEqual(["DRAINED", "FAILED", "DRAINED"]);
});

it("the process runs until the last worker has drained", async () => {
  const [one, other] = [fakeWorker(), fakeWorker()];
  let isOver = false;
  const running = runWorkers([one.worker, other.worker]).then(() => {
    isOver = true;
  });
  one.drain();
  await Promise.resolve();
  expect(isOver).toBe(false);
  other.drain();
  await running;
  expect(isOver).toBe(true);
});
