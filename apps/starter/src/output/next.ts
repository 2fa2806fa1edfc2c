import { shownText } from "@durable-payments/client/values";
import type { NextAction } from "@durable-payments/control/errors";
import type { Cancelled } from "@durable-payments/control/payments";
import { existsSync, readFileSync } from "node:fs";
import { isInstalled, plainCommand } from "../command-name.ts";
import { money, styled } from "./text.ts";

/** Purpose of an action, and its command if that has another name or words of its own. */
const COMMANDS: Readonly<
  Record<
    NextAction["action"],
    readonly [purpose: string, command?: string, ...words: ReadonlyArray<string>]
  >
> = {
  answer: ["Answer it"],
  word: ["Say what it means", "word", "completed|failed|returned|open", "--reason", "WHY"],
  approve: ["Approve it"],
  cancel: ["Cancel it", "cancel", "--reason", "WHY"],
  doctor: ["Find the fault"],
  events: ["Read again"],
  inbox: ["See what is waiting for a person"],
  list: ["List them"],
  onboard: ["Start it anyway", "onboard", "FILE", "--not-a-duplicate", "WHY"],
  pay: ["Pay it anyway", "pay", "FILE", "--not-a-duplicate", "WHY"],
  recover: ["Recover"],
  reject: ["Reject it", "reject", "--reason", "WHY"],
  resume: ["Resume sending"],
  retry: ["Retry it"],
  retryAll: ["Retry what failed", "retry", "--all-failed"],
  show: ["See it"],
  startServer: ["Start a server on this machine"],
  startWorker: ["Start a worker"],
  testWebhook: ["Test the webhook", "doctor", "--test-webhook"],
};

/** Flags of a command by field; the first one with a purpose says what the command is for. */
const FLAGS: ReadonlyArray<
  readonly [field: keyof NextAction, flags: ReadonlyArray<string>, purpose?: string]
> = [
  ["id", ["--id"]],
  ["isNewKey", ["--key", "NEW_KEY"], "Pay again under a new key"],
  ["isNewFile", [], "Pay such rows again, from a file with new keys"],
  ["after", ["--after"]],
  ["hash", ["--hash"]],
  ["question", ["--for"]],
  ["choice", ["--choose"]],
  ["isLate", ["--late"], "See what is late"],
  ["isLog", ["--log"], "See who did what"],
  ["isFollowed", ["--follow"], "Follow it"],
  ["ifRun", ["--if-run"]],
  ["from", ["--from"]],
  ["isDryRun", ["--dry-run"], "See whether a retry helps, and what it would do"],
  ["isOverruling", ["--override"], "Override the stop order"],
  ["isAmended", ["--amend", "FILE"], "Retry it with another request"],
  ["isRestarted", ["--restart"]],
  ["batch", ["--batch"]],
  ["group", ["--group"]],
  ["repair", ["--repair"]],
  ["account", ["--account"]],
  ["status", ["--status"]],
];

/** The effect of each answer, and the values that it needs. */
const ANSWERS: Readonly<
  Record<NonNullable<NextAction["choice"]>, readonly [purpose: string, ...words: Array<string>]>
> = {
  found: ["It was made", "--found", "ID"],
  resend: ["Send it again", "--reason", "WHY"],
  end: ["Send nothing more", "--reason", "WHY"],
};

/** Purpose of an action, and the arguments of its command. */
const wordsOf = (next: NextAction): readonly [purpose: string, ...args: ReadonlyArray<string>] => {
  const { action, choice, workflowId } = next;
  const [purpose, command = action, ...words] = COMMANDS[action];
  const [answer, ...needed] = choice === undefined ? [] : ANSWERS[choice];
  const given = FLAGS.filter(([field]) => next[field]);
  const flags = given.flatMap(([field, names]) => {
    const value = next[field];
    return typeof value === "string" ? [...names, value] : names;
  });
  // Both record why.
  const why = next.isOverruling || next.isAmended ? ["--reason", "WHY"] : [];
  const differs =
    action === "retry" && next.needs !== undefined ? ["--not-a-duplicate", "WHY"] : [];
  const said = given.find(([, , special]) => special !== undefined)?.[2];
  const id = workflowId === undefined ? [] : [workflowId];
  return [
    said ?? answer ?? purpose,
    command,
    ...id,
    ...words,
    ...flags,
    ...why,
    ...differs,
    ...needed,
  ];
};

/** Actions whose commands name no person, because they change nothing. */
const READING: ReadonlySet<NextAction["action"]> = new Set([
  "doctor",
  "events",
  "inbox",
  "list",
  "show",
  "testWebhook",
]);

/** Whether the folder is a project whose worker has workflows of its own. */
const hasWorkerScript = (): boolean =>
  existsSync("package.json") && /"worker": *"/.test(readFileSync("package.json", "utf8"));

/** Returns the flag that names the person, unless the environment does. */
export const byName = (): ReadonlyArray<string> =>
  process.env["PAYMENTS_PERSON"] ? [] : ["--by", "NAME"];

/** Returns the command for an action, as the user would type it. */
export const commandOf = (next: NextAction): string => {
  if (next.action === "startWorker") {
    return hasWorkerScript() ? "npm run worker" : plainCommand("worker");
  }
  if (next.action === "startServer") {
    return isInstalled() ? "temporal server start-dev" : "npm run dev";
  }
  const [, ...args] = wordsOf(next);
  return plainCommand(...args, ...(READING.has(next.action) ? [] : byName()));
};

/** Returns the possible actions, each with a command to copy: at most three. */
export const nextLines = (next: ReadonlyArray<NextAction>): ReadonlyArray<string> =>
  next.length === 0
    ? []
    : [
        "",
        styled("bold", "Next"),
        ...next
          .slice(0, 3)
          .flatMap((one) => [`  ${wordsOf(one)[0]}:`, `    ${styled("cyan", commandOf(one))}`]),
      ];

/** Returns the next action on one line. */
export const nextText = (next: NextAction): string =>
  shownText(`${wordsOf(next)[0]}: ${commandOf(next)}`);

/**
 * Returns the recorded decision, and the command that shows its effect.
 *
 * @param isContinued whether a run waits for it, and sends after it.
 */
export const decidedText = (
  what: string,
  { workflowId }: { readonly workflowId: string },
  isContinued = false,
): string =>
  [
    isContinued
      ? `${what} An open run continues within seconds; only a retry continues an ended one.`
      : what,
    // Limits have a log, and no run.
    ...nextLines([{ action: "show", workflowId, isLog: workflowId.startsWith("limits/") }]),
  ].join("\n");

/** The outcome of a payout before its stop order, besides that it succeeded. */
const STANDINGS: Readonly<Record<string, string>> = {
  made: "was already accepted, and may still be paid",
  failed: "was already accepted, and failed",
  returned: "was already paid, and came back",
};

/** Returns what had succeeded before a stop order, which does not reverse it. */
export const succeededLines = (succeeded: Cancelled["succeeded"]): ReadonlyArray<string> =>
  succeeded.map(
    ({ madeId, standing, step, ...of }) =>
      `${step} ${STANDINGS[standing] ?? "had already succeeded"}: ${money(of)}, ${madeId ?? "without an id"}. The stop order does not reverse it.`,
  );
