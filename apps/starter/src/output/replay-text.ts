import type { Replayed } from "@durable-payments/control/payments";
import type { describeDifference } from "@durable-payments/replay";
import { styled, table, wrap } from "./text.ts";

/**
 * Prints the results of replays, with the place of each difference.
 *
 * @param describe the package's own function; the package is loaded for a replay alone.
 */
export const replayText = (
  { runs: replays, skipped }: Replayed,
  describe: typeof describeDifference,
): string => {
  return [
    replays.length === 0
      ? "No run found."
      : table(
          replays.map(({ deterministic, events, type, workflowId }) => [
            workflowId,
            type,
            String(events),
            deterministic ? styled("green", "deterministic") : styled("red", "differs"),
          ]),
          { head: ["ID", "TYPE", "EVENTS", "REPLAY"] },
        ),
    ...skipped.map(({ reason, runs }) => wrap(`Skipped ${runs} run(s): ${reason}.`, "")),
    ...replays.flatMap((replay) =>
      replay.deterministic
        ? []
        : [
            "",
            styled("bold", replay.workflowId),
            ...describe(replay).map((line) => wrap(line, "  ")),
            ...(replay.kind === "unknownWorkflow"
              ? [wrap("Name the module that exports this workflow: --workflows PATH.", "  ")]
              : []),
          ],
    ),
  ].join("\n");
};
