import { Argument, Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json, reason } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("A run or a batch; without it everything"),
    Argument.optional,
  ),
  by,
  reason,
  json,
};

const what = (of: string): string => (of === "" ? "All sends" : `Sends of ${of}`);

/** `starter pause`: nothing is sent until it is resumed. */
export const pause = Command.make("pause", flags, ({ id, json, ...given }) =>
  runCommand(json, async (output) => {
    const { operating } = await import("../settings.ts");
    const { actingOf } = await import("../input/acting.ts");
    const { pause: pauseSends } = await import("@durable-payments/operations/pause");
    const paused = await operating((operations) =>
      pauseSends(operations, Option.getOrUndefined(id), actingOf(given)),
    );
    output.answer(
      paused,
      ({ by, of, reason }) =>
        `${what(of)} are paused by ${by}: ${reason}. Waits and checks continue.`,
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Pause sending: everything, a batch, or a run"),
  Command.withDescription(
    `Pause sending, at once and on all workers. It needs a --reason.

  ${EXIT_CODES_HELP}`,
  ),
);

/** `starter resume`: sends are allowed again. */
export const resume = Command.make("resume", flags, ({ id, json, ...given }) =>
  runCommand(json, async (output) => {
    const { operating } = await import("../settings.ts");
    const { actingOf } = await import("../input/acting.ts");
    const { resume: resumeSends } = await import("@durable-payments/operations/pause");
    const resumed = await operating((operations) =>
      resumeSends(operations, Option.getOrUndefined(id), actingOf(given)),
    );
    output.answer(resumed, ({ nudged, of, unanswered }) =>
      [
        `${what(of)} are resumed; ${nudged} runs were asked to look.`,
        ...(unanswered > 0
          ? [`Temporal did not answer for ${unanswered}: the tracker notifies those runs.`]
          : []),
      ].join("\n"),
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Resume sending"),
  Command.withDescription(
    `Resume sending: of everything, a batch, or a run.

  ${EXIT_CODES_HELP}`,
  ),
);
