import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter status`: shows how a run stands. */
export const status = Command.make("status", { id: runId, json }, ({ id, json }) =>
  runCommand(json, async (output) => {
    const { withRecord, withTemporal } = await import("../settings.ts");
    const { reportRun } = await import("@durable-payments/operations/runs");
    const { reportAnswer, reportText } = await import("../output/run-report-text.ts");
    const { exitCodeOfRun } = await import("../exit-codes.ts");
    const report = await withRecord(await withTemporal((temporal) => reportRun(temporal, id)));
    output.answer(report, reportText, reportAnswer);
    return exitCodeOfRun(report);
  }),
).pipe(
  Command.withShortDescription("Show how a run stands"),
  Command.withDescription(
    `Show how a run stands: steps, ids, what it waits for, result or failure.
  Works for runs that have ended, and without a worker: then with what
  Temporal itself knows.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    { command: "starter status invoice-2026-001", description: "For a person" },
    { command: "starter status invoice-2026-001 --json", description: "For a program" },
  ]),
);
