import { describe, expect, it } from "vitest";
import { baseQueue, isBulk, BULK_PRIORITY, workerQueues } from "../src/index.ts";

const ratesOf = (...given: Parameters<typeof workerQueues>) =>
  workerQueues(...given).activityQueues.map(
    ({ maxTaskQueueActivitiesPerSecond }) => maxTaskQueueActivitiesPerSecond,
  );

describe("the queues of a worker", () => {
  it("are named after the base queue, and lead back to it", () => {
    const { activityQueues, base } = workerQueues("my/payments");
    const names = [base, ...activityQueues].map(({ taskQueue }) => taskQueue);
    expect(names).toEqual([
      "my/payments",
      "my/payments/service",
      "my/payments/bulk",
      "my/payments/safety-net",
    ]);
    expect(names.map(baseQueue)).toEqual(names.map(() => "my/payments"));
  });

  it.each([
    [{ activitiesPerSecond: 100 }, [47.5, 47.5, 5]],
    [{ activitiesPerSecond: 20 }, [9, 9, 2]],
    [{ activitiesPerSecond: 100, bulkShare: 0.75, safetyNetPerSecond: 20 }, [20, 60, 20]],
  ])("divide one rate among them: %j", (rates, expected) => {
    expect(ratesOf("q", rates)).toEqual(expected);
  });

  it("have no limit but for the slow looks where no rate is given", () => {
    expect(ratesOf("q")).toEqual([undefined, undefined, 5]);
  });
});

it("only a run of the bulk priority is a bulk run's", () => {
  expect([BULK_PRIORITY, { priorityKey: 3 }, {}, undefined].map(isBulk)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
