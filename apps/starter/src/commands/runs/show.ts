import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES } from "../../exit-codes.ts";
import { json, runId, temporalRunId } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const flags = {
  id: runId,
  runId: temporalRunId,
  json,
};

/** `starter runs show`: shows the timeline of one run. */
export const show = Command.make("show", flags, ({ id, json, runId }) =>
  runCommand(json, async (output) => {
    const { withRecord, withTemporal } = await import("../../settings.ts");
    const { readTimeline } = await import("@durable-payments/operations/timeline");
    const { timelineAnswer, timelineText } = await import("../../output/timeline-text.ts");
    const timeline = await withRecord(
      await withTemporal((temporal) => readTimeline(temporal, id, Option.getOrUndefined(runId))),
    );
    output.answer(timeline, timelineText, timelineAnswer);
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Show what happened in one run"),
  Command.withDescription(
    `Show what happened in one run: each step with its time, attempts and waits,
  what failed and why, what people decided, and what can be done next. All is
  read from the history: it works for runs that have ended, without a worker.

  Exit codes: 0 done, however the run ended, 2 bad input, 3 cannot connect.`,
  ),
  Command.withExamples([
    { command: "starter runs show invoice-2026-001", description: "For a person" },
    { command: "starter runs show invoice-2026-001 --json", description: "For a program" },
  ]),
);
