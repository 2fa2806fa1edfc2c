import { Command } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter audit`: shows the audit trail of a run. */
export const audit = Command.make("audit", { id: runId, json }, ({ id, json }) =>
  runCommand(json, async (output) => {
    const { withTemporal } = await import("../settings.ts");
    const { auditRun } = await import("@durable-payments/operations/audit");
    const { auditText } = await import("../output/audit-text.ts");
    const report = await withTemporal((temporal) => auditRun(temporal, id));
    output.answer(report, auditText);
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Show who did what in a run"),
  Command.withDescription(
    `Show who or what did what when in all runs of an id, with keys, outcomes and
  reasons: who started, amended, retried, approved, decided, paused, resumed,
  cancelled, terminated and settled. It is read from the histories: no worker
  is asked, and what Temporal has deleted since is not in it.

  ${EXIT_CODES_HELP}`,
  ),
);
