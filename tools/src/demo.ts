import { Interrupted, interruption, reporter, runCommand } from "./command.ts";
import { appArguments, checkout } from "./processes.ts";
import { type Stack, withStack } from "./stack.ts";

const help = `Usage: npm run demo

Shows three payments on this machine, with a real Temporal server: starts a dev server with its Web
UI, two simulators of the payment service, and a worker with an account at each, all on free ports;
onboards a cardholder (examples/onboard.json), makes a payout to a new beneficiary
(examples/payout.json), and one from the second account (examples/payout-from-eu.json); prints what
the command line says of each; stops everything that it started. A missing Temporal server is installed first.

Options:
  --help   shows this text

Exit codes: 0 all runs succeeded, 1 something failed, 130 interrupted.
`;

const JOBS = [
  {
    title: "Onboarding a cardholder: identity check, USD balance, and a card with its first funds",
    start: "onboard examples/onboard.json",
    id: "demo-onboarding",
  },
  {
    title: "Making a payout to a new beneficiary, and waiting until it has completed",
    start: "pay examples/payout.json",
    id: "demo-payout",
  },
  {
    title: "Making a payout from the second account, eu",
    start: "pay examples/payout-from-eu.json",
    id: "demo-payout-from-eu",
  },
];

await runCommand({ help, options: {} }, async () => {
  const started = Date.now();
  const report = reporter(process.stdout);
  const signal = interruption();
  const show = (line: string) => {
    // The starter ends with the demo, and prints so: one line is enough.
    if (!signal.aborted) report.line(line);
  };
  const run = async (stack: Stack) => {
    const starter = async (command: string): Promise<void> => {
      show(`\n$ ./starter ${command}`);
      const spawned = stack.spawn("starter", appArguments("starter", command.split(" ")));
      spawned.onStdout(show);
      spawned.onStderr(show);
      const { code } = await spawned.exited;
      signal.throwIfAborted();
      if (code !== 0) throw new Error(`\nThis failed; logs: ${stack.logFolder}`);
    };
    show(`Web UI, while the demo runs: ${stack.variables["TEMPORAL_UI_URL"]}`);
    for (const [index, { id, start, title }] of JOBS.entries()) {
      show(`\n${index + 1}. ${title}`);
      await starter(`${start} --id ${id} --by ada`);
      await starter(`show ${id} --follow --exit-status`);
    }
  };
  try {
    // The examples are found from there.
    process.chdir(checkout);
    await withStack({ name: "demo", signal }, report, run);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    report.line("\nInterrupted; everything that the demo started has been stopped.");
    return error.exitCode;
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  report.line(`\nAll three runs succeeded; everything has been stopped (${seconds} s).`);
  return 0;
});
