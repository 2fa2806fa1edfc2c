import type { RunView } from "@durable-payments/operations/show";
import type { Sources } from "@durable-payments/operations/connection";
import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES, EXIT_STATUS_HELP } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { exitStatus, id, json, on, text } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const parameters = {
  id,
  run: text("run", "RUN", "An earlier run of the id; default: the latest"),
  follow: on("follow", "Follow it to its end"),
  log: on("log", "Who did what: sends, outcomes, removals, decisions"),
  verify: on("verify", "Check that nobody has edited the log"),
  exitStatus,
  json,
};

/** The exit code that says how a run ended. */
const codeOf = ({ state }: Pick<RunView, "state">, isWanted: boolean): number =>
  !isWanted || state === "succeeded"
    ? EXIT_CODES.done
    : state === "running" || state === null
      ? EXIT_CODES.stillOpen
      : EXIT_CODES.runFailed;

const showLog = async (
  output: Output,
  { ledger, whyNot }: Sources,
  workflowId: string,
  isVerified: boolean,
): Promise<number> => {
  if (ledger === undefined) throw badUsage(whyNot.join(" "));
  const { readLog } = await import("@durable-payments/operations/show");
  const { logText } = await import("../output/log-text.ts");
  output.answer(await readLog(ledger, workflowId, { isVerified }), logText);
  return EXIT_CODES.done;
};

const follow = async (output: Output, sources: Sources, workflowId: string) => {
  const { followRun } = await import("@durable-payments/operations/show");
  const { followLine } = await import("../output/run-text.ts");
  const { visible } = await import("../output/output.ts");
  const stop = new AbortController();
  output.onInterrupt = () => {
    stop.abort();
    output.say("Stopped watching; the run continues.");
  };
  let latest;
  for await (const run of followRun(sources, workflowId, stop.signal)) {
    latest = run;
    output.say(followLine(visible(run)));
  }
  return latest;
};

/** `starter show ID`: one run, or one batch. */
export const show = Command.make("show", parameters, (given) =>
  runCommand(given.json, async (output) => {
    const { id: workflowId } = given;
    const runId = Option.getOrUndefined(given.run);
    if (given.verify && !given.log) throw badUsage("--verify belongs to --log.");
    if (given.follow && runId !== undefined) throw badUsage("--follow follows the latest run.");
    const { reading } = await import("../settings.ts");
    return reading(async (sources) => {
      if (given.log) return showLog(output, sources, workflowId, given.verify);
      const { findBatch, readRun } = await import("@durable-payments/operations/show");
      const { ledger } = sources;
      const isMaybeBatch = runId === undefined && ledger !== undefined;
      const batch = isMaybeBatch ? await findBatch(ledger, workflowId) : undefined;
      if (batch !== undefined) {
        const { batchText } = await import("../output/batch-text.ts");
        output.answer(batch, batchText);
        return EXIT_CODES.done;
      }
      const { runText } = await import("../output/run-text.ts");
      const followed = given.follow ? await follow(output, sources, workflowId) : undefined;
      const run = followed ?? (await readRun(sources, workflowId, runId));
      output.answer(run, (shown) => runText(shown));
      return codeOf(run, given.exitStatus);
    });
  }),
).pipe(
  Command.withShortDescription("Show one run or batch, and what can be done"),
  Command.withDescription(
    `Show one run: its status and why, each step, the question that it asks with
  the consequences of each answer, and what can be done next. Writes are
  shown as the ledger has them, progress as Temporal has it. Of a batch: its
  counts, and each failed row with the reason.

  ${EXIT_STATUS_HELP}`,
  ),
  Command.withExamples([
    { command: "starter show invoice-17", description: "One run" },
    { command: "starter show invoice-17 --follow", description: "To its end" },
    { command: "starter show invoice-17 --log --verify", description: "Who did what" },
  ]),
);
