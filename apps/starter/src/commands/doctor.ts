import { Command } from "effect/cli";
import { EXIT_CODES } from "../exit-codes.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter doctor`: checks each thing that must work. */
export const doctor = Command.make("doctor", { json }, (flags) =>
  runCommand(flags.json, async (output) => {
    const { diagnose } = await import("@durable-payments/operations/doctor");
    const { temporalSettings } = await import("@durable-payments/operations/connection");
    const { checkAnswer, doctorText } = await import("../output/doctor-text.ts");
    const { journalSettings, readServiceSettings } = await import("../settings.ts");
    output.live("… checking");
    const { checks, isConnected, isWell } = await diagnose({
      temporal: () => temporalSettings(process.env),
      service: await readServiceSettings(),
      journal: journalSettings(),
    });
    output.answer({ ok: isWell, checks: checks.map(checkAnswer) }, () => doctorText(checks));
    if (isWell) return EXIT_CODES.done;
    return isConnected ? EXIT_CODES.runFailed : EXIT_CODES.cannotConnect;
  }),
).pipe(
  Command.withShortDescription("Check each thing that must work"),
  Command.withDescription(
    `Check each thing that must work, and say what to do about what does not:
  Temporal, its namespace, the search attributes, a worker that polls, the
  client's settings, sign-in and ping, the lists by which writes are reconciled,
  and the journal of sends (PAYMENTS_* as the worker has them).

  Exit codes: 0 all is well, 1 something does not work, 3 cannot connect to
  Temporal or its namespace.`,
  ),
);
