import { NEEDS_ATTENTION, STEP } from "@durable-payments/protocol";
import type { NextStep, Story } from "./story.ts";

type Told = Pick<
  Story,
  "workflowId" | "runId" | "state" | "laterRun" | "workerFault" | "failure" | "steps"
>;

/** Failures that the same input would lead to once more. */
const OF_INPUT: ReadonlySet<string> = new Set(["InvalidRequest", "Refused", "VerificationRefused"]);

const WAITS_FOR: Readonly<Record<string, string>> = {
  [NEEDS_ATTENTION]: "A person is asked: see the question, and how to answer it",
  [STEP.awaitApproval]: "A second person is asked: see the payment, and how to approve it",
  [STEP.awaitFunds]: "Funds are missing: see how much, and by which account to pay in",
};

const ofOpenRun = ({ state, steps, workerFault, workflowId }: Told): Array<NextStep> => {
  const step = steps.findLast(({ outcome }) => outcome === "running");
  const asks = step?.events.at(-1)?.kind === "question";
  const waitsFor = WAITS_FOR[asks ? NEEDS_ATTENTION : (step?.name ?? "")];
  return [
    ...(workerFault === null
      ? []
      : [
          {
            why: "The worker's code does not fit this run: find where they part",
            command: ["runs", "replay", workflowId],
          },
        ]),
    ...(waitsFor === undefined ? [] : [{ why: waitsFor, command: ["status", workflowId] }]),
    ...(state === "paused" ? [] : [{ why: "Follow it", command: ["watch", workflowId] }]),
    { why: "End it, undoing what can be undone", command: ["runs", "cancel", workflowId] },
  ];
};

const ofBrokenRun = ({ failure, workflowId }: Told): Array<NextStep> => {
  const retry = ["runs", "retry", workflowId];
  return [
    { why: "See what going on from the failed step would do", command: [...retry, "--dry-run"] },
    { why: "Go on from the failed step", command: retry },
    ...(OF_INPUT.has(failure?.type ?? "")
      ? [{ why: "… with another input", command: [...retry, "--amend", "FILE"] }]
      : []),
  ];
};

/** What can be done about a run, the most likely first. */
export const nextSteps = (told: Told): ReadonlyArray<NextStep> => {
  const { laterRun, state, workflowId } = told;
  const audit = { why: "See who or what did what", command: ["audit", workflowId] };
  if (laterRun !== null) {
    return [{ why: "A later run of this id went on", command: ["runs", "show", workflowId] }];
  }
  switch (state) {
    case "completed":
    case "continuedAsNew":
      return [audit];
    case "cancelled":
    case "failed":
    case "terminated":
    case "timedOut":
      return [...ofBrokenRun(told), audit];
    default:
      return ofOpenRun(told);
  }
};
