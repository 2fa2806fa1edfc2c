import { Command } from "effect/cli";
import { EXIT_CODES } from "../errors.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter doctor`: checks each thing that must work. */
export const doctor = Command.make("doctor", { json }, (flags) =>
  runCommand(flags.json, async (output) => {
    const { checkService } = await import("../doctor/service-checks.ts");
    const { CONNECTION_CHECKS, checkTemporal } = await import("../doctor/temporal-checks.ts");
    const { checkJournal } = await import("../doctor/journal-checks.ts");
    const { doctorText } = await import("../doctor/doctor-text.ts");
    output.live("… checking");
    const checks = (await Promise.all([checkTemporal(), checkService(), checkJournal()])).flat();
    const failed = checks.filter(({ status }) => status === "failed");
    output.answer({ ok: failed.length === 0, checks }, () => doctorText(checks));
    if (failed.length === 0) return EXIT_CODES.done;
    return failed.some(({ name }) => CONNECTION_CHECKS.includes(name))
      ? EXIT_CODES.cannotConnect
      : EXIT_CODES.runFailed;
  }),
).pipe(
  Command.withShortDescription("Check each thing that must work"),
  Command.withDescription(
    `Check each thing that must work, and say what to do about what does not:
  Temporal, its namespace, the search attributes, a worker that polls, the
  client's settings, sign-in and ping, the lists that look-ups read, and the
  journal of sends (PAYMENTS_* as the worker has them).

  Exit codes: 0 all is well, 1 something does not work, 3 cannot connect to
  Temporal or its namespace.`,
  ),
);
