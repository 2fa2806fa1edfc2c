import { shownText } from "@durable-payments/api-core/values";
import type { Nudged } from "@durable-payments/operations/decide";
import type { NextOperation } from "@durable-payments/operations/errors";
import { shellQuoted } from "@durable-payments/protocol";
import { basename, dirname, join } from "node:path";
import { styled } from "./text.ts";

/** The executable of the published package. */
const INSTALLED = "durable-payments";

/** Returns whether this is the published package, and not a checkout. */
const isInstalled = (): boolean => basename(process.argv[1] ?? "") === INSTALLED;

/** Returns the executable that a shell completes. */
export const executableName = (): string => (isInstalled() ? INSTALLED : "starter");

/** How a script of a project begins that calls the starter, as `npm create durable-payments` makes one. */
const NPM_SCRIPT = "npm run ";

/**
 * Returns the name by which the starter was called: the file `starter` of a checkout passes its own on, the `.env` of a
 * project names its script; an installed one is called through npx, or by its name where it is installed globally.
 */
export const starterName = (): string => {
  const given = process.env["STARTER_COMMAND"];
  // Anything else is a path, which may have blanks.
  if (given) return given.startsWith(NPM_SCRIPT) ? given : shellQuoted(given);
  if (!isInstalled()) return "starter";
  // What npm installed for a project, or npx for this call, is on the PATH of npm alone.
  const isOfNpm = dirname(process.argv[1] ?? "").endsWith(join("node_modules", ".bin"));
  return isOfNpm ? "npx @durable-payments/cli" : INSTALLED;
};

/** Returns a command of the starter as the user would type it. */
export const plainCommand = (...args: ReadonlyArray<string>): string =>
  [starterName(), ...args.map(shellQuoted)].join(" ");

const optional = (flag: string, value: string | true | undefined): ReadonlyArray<string> =>
  value === undefined ? [] : value === true ? [flag] : [flag, value];

const argumentsOf = (next: NextOperation): ReadonlyArray<string> => {
  switch (next.operation) {
    case "show":
      return [
        "show",
        next.workflowId,
        ...optional("--run", next.runId),
        ...optional("--log", next.isLog),
        ...optional("--follow", next.isFollowed),
      ];
    case "answer":
      return [
        "answer",
        next.workflowId,
        ...optional("--step", next.step),
        ...optional("--for", next.question),
        ...optional("--choose", next.choice),
        ...optional("--found", next.choice === "found" ? "ID" : undefined),
      ];
    case "approve":
    case "cancel":
    case "reject":
    case "replay":
      return [next.operation, next.workflowId];
    case "retry":
      return [
        "retry",
        next.workflowId,
        ...optional("--if-run", next.ifRun),
        ...(next.isOverruling ? ["--override", "--by", "NAME", "--reason", "WHY"] : []),
        ...optional("--amend", next.isAmended && "FILE"),
        ...optional("--restart", next.isRestarted),
        ...optional("--dry-run", next.isDryRun),
      ];
    case "retryAll":
      return ["retry", "--all-failed", ...optional("--batch", next.batch)];
    case "resume":
      return ["resume", ...(next.of === undefined ? [] : [next.of])];
    case "payNotDuplicate":
      return ["pay", "FILE", ...optional("--id", next.workflowId), "--not-a-duplicate"];
    case "list":
      return ["list", ...optional("--status", next.status)];
    case "testWebhook":
      return ["doctor", "--test-webhook"];
    case "doctor":
    case "inbox":
    case "recover":
      return [next.operation];
    case "startServer":
    case "startWorker":
      return [];
  }
};

/** Returns the command that does an operation, as the user would type it. */
export const commandOf = (next: NextOperation): string => {
  const isOfNpm = starterName().startsWith("npm run ");
  if (next.operation === "startWorker") {
    return isInstalled() && !isOfNpm ? "npx @durable-payments/worker" : "npm run worker";
  }
  if (next.operation === "startServer") {
    return isInstalled() ? "temporal server start-dev" : "npm run dev";
  }
  return plainCommand(...argumentsOf(next));
};

const PURPOSES: Readonly<Record<NextOperation["operation"], string>> = {
  show: "See it",
  answer: "Answer it",
  approve: "Approve it",
  reject: "Reject it",
  retry: "Retry it",
  retryAll: "Retry what failed",
  cancel: "Cancel it",
  resume: "Resume sending",
  payNotDuplicate: "Pay it all the same",
  replay: "Compare the code with its history",
  list: "List them",
  inbox: "See what waits for a person",
  doctor: "Find what is wrong",
  recover: "Recover",
  testWebhook: "Test the webhook",
  startWorker: "Start a worker",
  startServer: "Start a server on this machine",
};

const purposeOf = (next: NextOperation): string => {
  if (next.operation === "show" && next.isLog) return "See who did what";
  if (next.operation === "show" && next.isFollowed) return "Follow it";
  if (next.operation === "retry" && next.isDryRun) return "See what a retry would do";
  if (next.operation === "retry" && next.isOverruling) return "Override the end";
  if (next.operation === "retry" && next.isAmended) return "Retry it with another request";
  return PURPOSES[next.operation];
};

/** Returns what can be done, a command on each line that can be copied: at most three. */
export const nextLines = (next: ReadonlyArray<NextOperation>): ReadonlyArray<string> =>
  next.length === 0
    ? []
    : [
        "",
        styled("bold", "Next"),
        ...next
          .slice(0, 3)
          .flatMap((one) => [`  ${purposeOf(one)}:`, `    ${styled("cyan", commandOf(one))}`]),
      ];

/** Returns what to do next on one line. */
export const nextText = (next: NextOperation): string =>
  shownText(`${purposeOf(next)}: ${commandOf(next)}`);

/** Whether the run knows of a decision; the decision is recorded in any case. */
const NUDGED: Readonly<Record<Nudged["is"], string>> = {
  nudged: "The run was asked to look.",
  noRun: "No run is open: it holds for the next one.",
  unanswered: "Temporal does not answer: the tracker notifies the run as soon as it does.",
};

/** Returns what was recorded, and how to see what follows. */
export const decidedText = (
  what: string,
  { nudged, workflowId }: { readonly nudged: Nudged; readonly workflowId: string },
): string =>
  [`${what} ${NUDGED[nudged.is]}`, ...nextLines([{ operation: "show", workflowId }])].join("\n");

/** Says for how many runs Temporal did not take a decision that is recorded. */
export const unansweredLines = (count: number): ReadonlyArray<string> =>
  count === 0 ? [] : [`Temporal did not answer for ${count}: the tracker notifies those runs.`];
