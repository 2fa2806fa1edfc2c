import { join } from "node:path";
import { interruption, Interrupted } from "./command/interruption.ts";
import { checkout } from "./processes/apps.ts";
import { reporter } from "./command/progress.ts";
import { runCommand } from "./command/run-command.ts";
import { runStarter } from "./stack/run-starter.ts";
import { type Stack, withStack } from "./stack/stack.ts";

const help = `Usage: npm run demo

Shows the main job on this machine, on a real Temporal server: starts a dev server with its Web UI,
the simulator of the payment service, and a worker, all on free ports; onboards a cardholder
(examples/onboard.json) and pays out to a new beneficiary (examples/payout.json); prints both
results; ends everything that it started. What is missing on this machine is set up first.

Options:
  --help   shows this text

Exit codes: 0 both runs succeeded, 1 something failed, 130 interrupted.
`;

const jobs = [
  {
    title: "Onboarding a cardholder: identity check, USD balance, card with its first recharge",
    command: "onboard",
    file: "examples/onboard.json",
    id: "demo-onboarding",
  },
  {
    title: "Paying out to a new beneficiary: create both, await the completion",
    command: "pay",
    file: "examples/payout.json",
    id: "demo-payout",
  },
] as const;

await runCommand({ help, options: {} }, async () => {
  const started = Date.now();
  const report = reporter(process.stdout);
  const ports = {
    temporal: { option: "the Temporal server" },
    webUi: { option: "the Web UI" },
    simulator: { option: "the simulator" },
  };
  const signal = interruption();
  const show = (line: string) => {
    // The starter ends with the demo, and says so: one line is enough.
    if (!signal.aborted) report.line(line);
  };
  const run = async (stack: Stack) => {
    show(`Web UI, while the demo runs: ${stack.webUi}`);
    let failures = 0;
    for (const [index, { title, command, file, id }] of jobs.entries()) {
      show(`\n${index + 1}. ${title}`);
      show(`   input  ${file}`);
      show(`   watch  ${stack.webUi}/namespaces/default/workflows/${id}`);
      const outcome = await runStarter(stack, [command, join(checkout, file)], id, (line) =>
        show(`     ${line}`),
      );
      signal.throwIfAborted();
      show(`   ${outcome.state}`);
      for (const line of outcome.lines) show(`     ${line}`);
      if (outcome.state !== "succeeded") failures += 1;
    }
    if (failures > 0) {
      throw new Error(`\n${failures} of ${jobs.length} runs failed; logs: ${stack.logFolder}`);
    }
  };
  try {
    await withStack({ name: "demo", ports, signal }, report, run);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    report.line("\nInterrupted; everything that the demo started is ended again.");
    return error.exitCode;
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  report.line(`\nBoth runs succeeded; everything is ended again (${seconds} s).`);
  return 0;
});
