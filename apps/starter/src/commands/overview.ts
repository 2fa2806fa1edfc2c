import type { Check } from "@durable-payments/operations/doctor";
import { EXIT_CODES } from "../exit-codes.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** What of the doctor's checks belongs to a glance, beside what failed. */
const GLANCED = /^(?:.+: )?(?:service|Temporal|worker|ledger|tracker(?: of .+)?)$/;

const isGlanced = ({ name, status }: Check): boolean => GLANCED.test(name) || status === "failed";

/** `starter` without a command: everything at a glance. */
export const overview = {
  flags: { json },
  run: (given: { readonly json: boolean }) =>
    runCommand(given.json, async (output) => {
      const { operationsSettings, readAccounts, reading } = await import("../settings.ts");
      const { diagnose } = await import("@durable-payments/operations/doctor");
      const { readOverview } = await import("@durable-payments/operations/show");
      const { overviewText } = await import("../output/overview-text.ts");
      const settings = { ...(await operationsSettings()), accounts: await readAccounts() };
      const [{ checks }, seen] = await Promise.all([diagnose(settings), reading(readOverview)]);
      const answer = { ...seen, checks: checks.filter(isGlanced) };
      output.answer(answer, (shown) => overviewText(shown));
      return EXIT_CODES.done;
    }),
} as const;
