import type { NamespaceFix } from "@durable-payments/operations/doctor";
import { Command } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { json, on, yes } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  fix: on("fix", "Create the namespace, or have it keep runs long enough"),
  testWebhook: on("test-webhook", "Post one notification by the worker"),
  yes,
  json,
};

const FIXES: Readonly<Record<Exclude<NamespaceFix, "none">, string>> = {
  create: "create the namespace",
  lengthenRetention: "have the namespace keep runs for 30 days after their end",
};

const fix = async (output: Output, isAgreed: boolean): Promise<void> => {
  const { fixNamespace, planFix } = await import("@durable-payments/operations/doctor");
  const { temporalSettings, withTemporal } =
    await import("@durable-payments/operations/connection");
  const { canAsk, confirm } = await import("../output/ask.ts");
  await withTemporal(temporalSettings(process.env), async (temporal) => {
    const planned = await planFix(temporal);
    if (planned === "none") return;
    const what = FIXES[planned];
    if (!isAgreed && !canAsk()) return output.say(`To ${what}, add --yes.`);
    if (!isAgreed) await confirm(`It will ${what}. Continue?`, "Nothing was changed.");
    await fixNamespace(temporal, planned);
  });
};

/** `starter doctor`: checks the installation. */
export const doctor = Command.make("doctor", flags, (given) =>
  runCommand(given.json, async (output) => {
    const { operationsSettings, readAccounts } = await import("../settings.ts");
    if (given.testWebhook) {
      const { testWebhook } = await import("@durable-payments/operations/doctor");
      const { temporalSettings, withTemporal } =
        await import("@durable-payments/operations/connection");
      const delivery = await withTemporal(temporalSettings(process.env), testWebhook);
      output.answer(delivery, ({ host, isDelivered, status, tookMs, why }) =>
        isDelivered
          ? `Delivered to ${host ?? "the webhook"}: status ${status ?? "none"}, in ${tookMs} ms.`
          : `Not delivered to ${host ?? "the webhook"}: ${why ?? `status ${status ?? "none"}`}.`,
      );
      return EXIT_CODES.done;
    }
    if (given.fix) await fix(output, given.yes);
    const { diagnose } = await import("@durable-payments/operations/doctor");
    const { doctorText } = await import("../output/doctor-text.ts");
    const settings = { ...(await operationsSettings()), accounts: await readAccounts() };
    const diagnosis = await diagnose(settings);
    output.answer(diagnosis, doctorText);
    return diagnosis.isWell ? EXIT_CODES.done : EXIT_CODES.runFailed;
  }),
).pipe(
  Command.withShortDescription("Check that everything works"),
  Command.withDescription(
    `Check the service, the sign-in, Temporal, its namespace, workers, trackers,
  notifications, the ledger (identity, witness, the logs of the latest runs),
  limits, and what makes no progress. It changes nothing without --fix.

  ${EXIT_CODES_HELP}
  1: at least one check failed.`,
  ),
);
