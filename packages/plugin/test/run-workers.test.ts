import type { Worker } from "@temporalio/worker";
import { expect, it, vi } from "vitest";
import { runWorkers } from "../src/worker/run-workers.ts";

const aborted = () => {
  const controller = new AbortController();
  controller.abort();
  return controller;
};

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
    member: { worker: worker as unknown as Worker, run: worker.run },
    state: () => state,
    fail: (error: Error) => {
      state = "FAILED";
      ended.reject(error);
    },
    drain: worker.shutdown,
    /** It is to drain, and has tasks still. */
    stop: () => {
      state = "DRAINING";
    },
  };
};

it("where one worker fails the others drain, and the process ends with its error", async () => {
  const [one, other, third] = [fakeWorker(), fakeWorker(), fakeWorker()];
  const draining = new AbortController();
  const running = runWorkers(
    [one, other, third].map(({ member }) => member),
    draining,
  );
  other.fail(new Error("lost"));
  await expect(running).rejects.toThrow("lost");
  expect([one, other, third].map(({ state }) => state())).toEqual(["DRAINED", "FAILED", "DRAINED"]);
  expect(draining.signal.aborted).toBe(true);
});

it("where one drains the others drain, before it has ended", async () => {
  const [one, other] = [fakeWorker(), fakeWorker()];
  const draining = new AbortController();
  const running = runWorkers([one.member, other.member], draining);
  one.stop();
  await vi.waitFor(() => expect(other.state()).toBe("DRAINED"), { timeout: 120_000 });
  expect(draining.signal.aborted).toBe(true);
  one.drain();
  await running;
});

it("drains at once where it was to drain before", async () => {
  const one = fakeWorker();
  await runWorkers([one.member], aborted());
  expect(one.state()).toBe("DRAINED");
});

it("the process runs until the last worker has drained", async () => {
  const [one, other] = [fakeWorker(), fakeWorker()];
  let isOver = false;
  const running = runWorkers([one.member, other.member], new AbortController()).then(() => {
    isOver = true;
  });
  one.stop();
  await vi.waitFor(() => expect(other.state()).toBe("DRAINED"), { timeout: 120_000 });
  expect(isOver).toBe(false);
  one.drain();
  await running;
  expect(isOver).toBe(true);
});
