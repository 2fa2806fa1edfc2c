import type { Payments } from "@durable-payments/control/payments";
import { type BatchView, isOpenStatus, type RunDetails } from "@durable-payments/control/show";
import { spawn } from "node:child_process";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { followBatchLine } from "../output/batch-text.ts";
import { plainCommand } from "../command-name.ts";
import { type Output, visible } from "../output/output.ts";
import { followLine } from "../output/run-text.ts";
import { noteLines } from "../output/text.ts";

/** Flags of a command that waits for what it has started. */
interface WaitFlags {
  readonly wait: boolean;
  /** Milliseconds. */
  readonly timeout: number | undefined;
}

/** How something is followed: to its end, or at most until a person is needed, or a time is over. */
type Following = Partial<Pick<WaitFlags, "timeout">> & { readonly isWaiting?: boolean };

/** Checks the flags of a wait. @throws BadUsage */
export const checkWait = ({ timeout, wait }: WaitFlags): void => {
  if (timeout !== undefined && !wait) throw badUsage("--timeout requires --wait.");
};

const CODES = {
  open: EXIT_CODES.stillOpen,
  paid: EXIT_CODES.done,
  notPaid: EXIT_CODES.runFailed,
} as const;

/** Returns the exit code for the rows of a file. */
export const codeOfBatch = ({ outcome }: Pick<BatchView, "outcome">): number => CODES[outcome];

/** Returns the exit code for a run: its money counts, however the run ended. */
export const codeOfRun = ({ status }: Pick<RunDetails, "status">): number =>
  CODES[isOpenStatus(status) ? "open" : status === "succeeded" ? "paid" : "notPaid"];

/** Stops watching when the user interrupts, or after a time. */
const watching = (output: Output, what: string, id: string, timeout?: number): AbortSignal => {
  const stop = new AbortController();
  output.onInterrupt = () => {
    stop.abort();
    output.say(`Stopped watching; the ${what} continues: ${plainCommand("show", id)}`);
  };
  return timeout === undefined
    ? stop.signal
    : AbortSignal.any([stop.signal, AbortSignal.timeout(timeout)]);
};

/** Follows a run, with a line for each change. Returns it as it is then. */
export const followedRun = async (
  output: Output,
  payments: Payments,
  id: string,
  { isWaiting = false, timeout }: Following = {},
): Promise<RunDetails> => {
  let latest;
  const signal = watching(output, "run", id, timeout);
  for await (const run of payments.follow(id, { signal })) {
    latest = run;
    output.say(followLine(visible(run)));
    if (run.notes.length > 0)
      output.say(noteLines([`${run.notes.join(" ")} Following continues.`]).join("\n"));
    const needsPerson = run.inbox.length > 0 || run.status === "paused" || run.status === "missing";
    if (isWaiting && needsPerson) break;
  }
  output.onInterrupt = undefined;
  return latest ?? payments.show(id);
};

/** Follows a file, with a line for each change. Returns it as it is then. */
export const followedBatch = async (
  output: Output,
  payments: Payments,
  id: string,
  { isWaiting = false, isWhole = false, timeout }: Following & { readonly isWhole?: boolean } = {},
) => {
  const signal = watching(output, "file", id, timeout);
  for await (const seen of payments.followBatch(id, { signal })) {
    output.say(followBatchLine(visible(seen)));
    if (isWaiting && (seen.state === "needsApproval" || seen.pausedBy !== null)) break;
  }
  output.onInterrupt = undefined;
  return payments.batch(id, { isWhole });
};

/** Commands that open a page in a browser, by platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "open",
  win32: "explorer",
};

/**
 * Prints the page of a run in Temporal's Web UI, and opens it at a terminal.
 *
 * @throws as `webUi` of the payments.
 */
export const showWeb = async (output: Output, payments: Payments, id: string): Promise<void> => {
  const webUi = await payments.webUi(id);
  output.answer({ workflowId: id, webUi }, (shown) => shown.webUi);
  if (output.json || !process.stdout.isTTY) return;
  const opener = spawn(OPENERS[process.platform] ?? "xdg-open", [webUi], {
    detached: true,
    stdio: "ignore",
  });
  // The link is printed, wherever there is no browser.
  opener.on("error", () => undefined).unref();
};
