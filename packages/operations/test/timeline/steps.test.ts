import { readFile } from "node:fs/promises";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { expect, it } from "vitest";
import { readRun } from "../../src/history/read-run.ts";
import { timelineSteps } from "../../src/timeline/steps.ts";

const histories = new URL("../../../workflows/test/histories/", import.meta.url);

/** The last step of a run that was recorded, and what happened in it. */
const lastStep = async (name: string, isCancelled = false) => {
  const history: unknown = JSON.parse(await readFile(new URL(`${name}.json`, histories), "utf8"));
  const end = { at: new Date(0).toISOString(), isDone: false, isCancelled };
  const step = timelineSteps(readRun(historyFromJSON(history)).steps, end).at(-1);
  return {
    step: `${step?.name} ${step?.outcome}`,
    events: step?.events.map((event) => {
      if (event.kind === "activity") return `${event.activity} ${event.outcome}`;
      return event.kind === "leftOver" ? `left over: ${event.what}` : event.kind;
    }),
  };
};

it("what was undone stands under the step that failed", async () => {
  expect(await lastStep("onboarding-compensated")).toEqual({
    step: "confirmCard failed",
    events: ["confirmCard failed", "cancelCard done", "removeCardholder done"],
  });
});

it("what could not be undone is left over, and no step that was done", async () => {
  expect(await lastStep("onboarding-compensated-in-part")).toEqual({
    step: "confirmCard failed",
    events: [
      "confirmCard failed",
      "cancelCard done",
      "removeCardholder failed",
      "left over: remove the cardholder",
    ],
  });
});

it("a step that was refused, and then abandoned, leaves nothing over", async () => {
  expect(await lastStep("onboarding-abandoned-by-a-person")).toEqual({
    step: "issueCard failed",
    events: ["createCard failed", "question", "update", "removeCardholder done"],
  });
});

it("a run that is cancelled undoes under the step at which it was", async () => {
  expect(await lastStep("onboarding-cancelled-at-awaitFunds-and-compensated", true)).toEqual({
    step: "awaitFunds cancelled",
    events: [
      "checkFunds done",
      "retrieveBalanceBankDetails done",
      "awaitFunds cancelled",
      "removeCardholder done",
    ],
  });
});
