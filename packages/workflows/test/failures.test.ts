import { ActivityFailure, ApplicationFailure, TimeoutFailure } from "@temporalio/common";
import { describe, expect, it } from "vitest";
import { isOverdue } from "../src/run/failures.ts";

const failed = (retryState: "TIMEOUT" | "NON_RETRYABLE_FAILURE", cause: Error) =>
  new ActivityFailure("Activity task failed", "awaitPayoutEnd", "1", retryState, undefined, cause);

const timeout = (type: "SCHEDULE_TO_CLOSE" | "SCHEDULE_TO_START" | "HEARTBEAT") =>
  new TimeoutFailure("timed out", undefined, type);

describe("the time of a poll is over", () => {
  it.each([
    ["while an attempt runs", failed("NON_RETRYABLE_FAILURE", timeout("SCHEDULE_TO_CLOSE"))],
    ["while no worker takes it", failed("NON_RETRYABLE_FAILURE", timeout("SCHEDULE_TO_START"))],
    ["between two attempts", failed("TIMEOUT", ApplicationFailure.retryable("open", "NotYet"))],
  ])("%s", (_, error) => {
    expect(isOverdue(error)).toBe(true);
  });

  it("is not said by other failures", () => {
    const lost = failed("NON_RETRYABLE_FAILURE", timeout("HEARTBEAT"));
    expect([lost, lost.cause, new Error("timed out")].map(isOverdue)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
