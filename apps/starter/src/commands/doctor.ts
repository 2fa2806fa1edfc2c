import type { AccountToCheck } from "@durable-payments/operations/doctor";
import { Command, Flag } from "effect/cli";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import type { Account } from "../settings.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const fix = Flag.Boolean("fix").pipe(
  Flag.withDescription("Register what the namespace lacks"),
  Flag.withDefault(false),
);

const yes = Flag.Boolean("yes").pipe(
  Flag.withDescription("Do not ask before --fix registers it"),
  Flag.withDefault(false),
);

const toCheck = async ({ journal, name, service }: Account): Promise<AccountToCheck> => ({
  ...(name !== undefined && { name }),
  journal,
  service: await service(),
});

const examine = async (output: Output): Promise<number> => {
  const { diagnose } = await import("@durable-payments/operations/doctor");
  const { temporalSettings } = await import("@durable-payments/operations/connection");
  const { webUiViews } = await import("@durable-payments/operations/runs");
  const { checkAnswer, doctorText } = await import("../output/doctor-text.ts");
  const { readAccounts } = await import("../settings.ts");
  output.live("… checking");
  const [first, ...others] = await readAccounts();
  const { checks, isConnected, isWell } = await diagnose({
    temporal: () => temporalSettings(process.env),
    ...(await toCheck(first)),
    others: await Promise.all(others.map(toCheck)),
  });
  const views = isConnected ? webUiViews(temporalSettings(process.env)) : [];
  output.answer({ checks, views }, doctorText, () => ({
    ok: isWell,
    checks: checks.map(checkAnswer),
    views,
  }));
  if (isWell) return EXIT_CODES.done;
  return isConnected ? EXIT_CODES.runFailed : EXIT_CODES.cannotConnect;
};

/** `starter doctor`: checks each thing that must work. */
export const doctor = Command.make("doctor", { fix, yes, json }, (flags) =>
  runCommand(flags.json, async (output) => {
    if (flags.fix) {
      const { fixNamespace } = await import("./fix-namespace.ts");
      return fixNamespace(output, flags.yes);
    }
    if (flags.yes) throw badUsage("--yes goes with --fix.");
    return examine(output);
  }),
).pipe(
  Command.withShortDescription("Check each thing that must work"),
  Command.withDescription(
    `Check each thing that must work, and say what to do about what does not:
  Temporal, its namespace with its search attributes and its retention, a worker
  that polls and answers, the tracker, whether the workers' account is that of
  these settings, sign-in and ping, the lists by which writes are reconciled,
  and whether the journal of sends can be written (PAYMENTS_* as the worker has
  them).

  --fix registers the search attributes that the namespace lacks, after one
  question; done twice it does nothing. It makes no namespace, and leaves a
  short retention as it is: what history may cost is for whoever runs the
  server to say. Without --fix the command for each is printed.

  Exit codes: 0 all is well, or was put right by --fix; 1 something does not
  work; 2 --fix was not agreed to, or Temporal refused it; 3 cannot connect to
  Temporal or its namespace.`,
  ),
  Command.withExamples([
    {
      command: "starter doctor --fix --yes",
      description: "Make a namespace ready, in a script",
    },
  ]),
);
