import { visibleText } from "@durable-payments/api-core/values";
import { commandInLines, shellQuoted } from "./shell.ts";

/** What the Web UI shows of a line, beside another column, in a window of usual width. */
const WIDTH = 64;

const commandText = (args: ReadonlyArray<string>): string => {
  const words = ["starter", ...args.map((argument) => shellQuoted(visibleText(argument)))];
  const line = words.join(" ");
  return line.length <= WIDTH ? line : commandInLines(words);
};

/**
 * Write commands as a block of markdown that nothing in them can end.
 *
 * @param commands the arguments of each, after `starter`.
 */
export const shellBlock = (commands: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = commands.map(commandText);
  const ticks = [...lines.join("\n").matchAll(/`+/g)].map(([found]) => found.length + 1);
  const fence = "`".repeat(Math.max(3, ...ticks));
  return [`${fence}sh`, ...lines, fence].join("\n");
};

/**
 * Write what the Web UI shows of a run as its details, from its start on: where to read on, and by which
 * commands.
 *
 * @param workflowId of the run.
 * @param isBatch whether it pays the rows of a file.
 * @returns markdown; it holds nothing of the payment.
 */
export const runDetails = (workflowId: string, { isBatch = false } = {}): string =>
  [
    "How it stands, and what it asks, is shown as its current details while a worker runs. In a terminal:",
    shellBlock([
      isBatch ? ["payouts", "status", workflowId] : ["status", workflowId],
      ["runs", "show", workflowId],
      ["audit", workflowId],
    ]),
    // The Web UI cuts off the last line of a text that ends with a block.
    isBatch ? "docs/batches.md" : "docs/runs.md",
  ].join("\n\n");
