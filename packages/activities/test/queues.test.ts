import {
  baseQueue,
  batchQueue,
  fallbackPollingQueue,
  serviceQueue,
} from "@durable-payments/protocol";
import { describe, expect, it } from "vitest";
import { workerQueues } from "../src/index.ts";

const queuesOf = (...given: Parameters<typeof workerQueues>) => {
  const { activityQueues, workflowQueues } = workerQueues(...given);
  return [...workflowQueues, ...activityQueues];
};

const ratesOf = (...given: Parameters<typeof workerQueues>) =>
  queuesOf(...given).map(({ maxTaskQueueActivitiesPerSecond }) => maxTaskQueueActivitiesPerSecond);

describe("the queues of a worker", () => {
  it("are named after the base queue, and lead back to it", () => {
    const names = queuesOf("my/payments").map(({ taskQueue }) => taskQueue);
    expect(names).toEqual([
      "my/payments",
      "my/payments/batch",
      "my/payments/service",
      "my/payments/fallback-polling",
    ]);
    expect(names.map(baseQueue)).toEqual(names.map(() => "my/payments"));
  });

  it("of an account with a name are its own, have activities alone, and lead back to it", () => {
    const { activityQueues, workflowQueues } = workerQueues(
      "my/payments",
      { activitiesPerSecond: 100 },
      "eu",
    );
    expect(workflowQueues).toEqual([]);
    const rates = activityQueues.map((queue) => [
      queue.taskQueue,
      queue.maxTaskQueueActivitiesPerSecond,
    ]);
    expect(rates).toEqual([
      ["my/payments/batch@eu", 49.5],
      ["my/payments/service@eu", 49.5],
      ["my/payments/fallback-polling@eu", 1],
    ]);
    expect(new Set(activityQueues.map(({ taskQueue }) => baseQueue(taskQueue)))).toEqual(
      new Set(["my/payments"]),
    );
    expect(serviceQueue(batchQueue("payments"), "eu")).toBe("payments/batch@eu");
    expect(serviceQueue("payments", "eu")).toBe("payments/service@eu");
  });

  it("are not taken for those of an account where a base queue looks like one", () => {
    expect(["a@b", "service@eu", "a/b@c"].map(baseQueue)).toEqual(["a@b", "service@eu", "a/b@c"]);
  });

  it("are found from any of them: a batch calls the service on its queue", () => {
    expect(serviceQueue("payments")).toBe("payments/service");
    expect(serviceQueue(batchQueue("payments"))).toBe("payments/batch");
    expect(fallbackPollingQueue(batchQueue("payments"))).toBe("payments/fallback-polling");
    expect(batchQueue(batchQueue("payments"))).toBe("payments/batch");
  });

  it.each([
    [{ activitiesPerSecond: 100 }, [undefined, 49.5, 49.5, 1]],
    [{ activitiesPerSecond: 5 }, [undefined, 2.25, 2.25, 0.5]],
    [
      { activitiesPerSecond: 100, batchShare: 0.75, fallbackPollingPerSecond: 20 },
      [undefined, 60, 20, 20],
    ],
  ])("divide one rate among them: %j", (rates, expected) => {
    expect(ratesOf("q", rates)).toEqual(expected);
  });

  it("have no limit but for fallback polls where no rate is given", () => {
    expect(ratesOf("q")).toEqual([undefined, undefined, undefined, 1]);
  });
});
