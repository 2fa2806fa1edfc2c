import type { NextOperation } from "@durable-payments/operations/errors";
import { isInstalled, isNpmScript, plainCommand } from "./command-line.ts";
import { unbroken } from "./styled.ts";
import { visible } from "./visible.ts";

/** The arguments of the command of the starter that does an operation; undefined where another program does it. */
export const argumentsOf = (next: NextOperation): ReadonlyArray<string> => {
  switch (next.operation) {
    case "describe":
      return ["status", next.workflowId];
    case "timeline":
      return [
        "runs",
        "show",
        next.workflowId,
        ...(next.runId === undefined ? [] : ["--run-id", next.runId]),
      ];
    case "audit":
      return ["audit", next.workflowId];
    case "watch":
      return ["watch", next.workflowId];
    case "retry":
      return [
        "runs",
        "retry",
        next.workflowId,
        ...(next.runId === undefined ? [] : ["--run-id", next.runId]),
        ...(next.from === undefined ? [] : ["--from", next.from]),
        ...(next.overrule ? ["--overrule", "--by", "NAME", "--reason", "WHY"] : []),
        ...(next.isDryRun ? ["--dry-run"] : []),
        ...(next.amend ? ["--amend", "FILE"] : []),
      ];
    case "cancel":
      return ["runs", "cancel", next.workflowId];
    case "replay":
      return ["runs", "replay", next.workflowId];
    case "export":
      return ["runs", "export", "ID", "--file", "FILE"];
    case "humanTasks":
      return ["attention"];
    case "describeBatch":
      return ["payouts", "status", next.workflowId];
    case "importOverruling":
      return ["payouts", "import", "FILE", "--by", "NAME", "--overrule", "WHY"];
    case "resumeBatch":
      return ["payouts", "resume", next.workflowId, "--by", "NAME"];
    case "resume":
      return ["resume", "--by", "NAME"];
    case "doctor":
      return ["doctor"];
    case "testNotification":
      return ["notify", "test"];
    case "fixNamespace":
      return ["doctor", "--fix"];
    case "startWorker":
    case "startServer":
      return [];
  }
};

/** What another program does: in a checkout by npm, elsewhere by what is published. */
const byAnotherProgram = (next: NextOperation): string | undefined => {
  switch (next.operation) {
    case "startWorker":
      return isInstalled() && !isNpmScript() ? "npx @durable-payments/worker" : "npm run worker";
    case "startServer":
      return isInstalled() ? "temporal server start-dev" : "npm run dev";
    default:
      return undefined;
  }
};

/** The command that does an operation, as the user would type it. */
export const commandOf = (next: NextOperation): string =>
  byAnotherProgram(next) ?? plainCommand(...argumentsOf(visible(next)));

/** The same of an operation as it is shown, as a part of a text that is wrapped. */
const shownCommandOf = (next: NextOperation): string =>
  unbroken(byAnotherProgram(next) ?? plainCommand(...argumentsOf(next)));

const PURPOSES: Readonly<Record<NextOperation["operation"], string>> = {
  describe: "See it:",
  timeline: "See it:",
  audit: "See who did what:",
  watch: "Follow it:",
  retry: "Retry it:",
  cancel: "End it:",
  resumeBatch: "Let it go on:",
  replay: "Find where they part:",
  export: "Write one:",
  humanTasks: "See what waits for a person:",
  describeBatch: "See it:",
  importOverruling: "To overrule it:",
  resume: "Let sends go on:",
  doctor: "Find what is missing:",
  testNotification: "See what the endpoint answers:",
  fixNamespace: "Register what is missing:",
  startWorker: "Start one:",
  startServer: "Start one on this machine:",
};

const purposeOf = (next: NextOperation): string =>
  next.operation === "retry" && next.overrule ? "To overrule it:" : PURPOSES[next.operation];

interface Reported {
  readonly message: string;
  readonly next?: NextOperation | undefined;
}

/** A message, and what to do next, as one text for a program. */
export const withNext = ({ message, next }: Reported): string =>
  next === undefined ? message : `${message} ${purposeOf(next)} ${commandOf(next)}`;

/** The same of a message as it is shown, for a person: the command stays on one line. */
export const shownWithNext = ({ message, next }: Reported): string =>
  next === undefined ? message : `${message} ${purposeOf(next)} ${shownCommandOf(next)}`;

/** What is to be said of a run in doubt that is not the latest of its id, and how it is seen. */
export const earlierRun = ({
  runId,
  workflowId,
}: Readonly<Record<"runId" | "workflowId", string>>) =>
  ({
    message: "Another run of this id has begun since, and does not answer for this one.",
    next: { operation: "timeline", workflowId, runId },
  }) as const;
