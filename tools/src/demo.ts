import { isRecord } from "@durable-payments/api-core/values";
import { join } from "node:path";
import { Interrupted, interruption, reporter, runCommand } from "./command.ts";
import { appArguments, checkout, lastLines, type StartedProcess } from "./processes.ts";
import { type Stack, withStack } from "./stack.ts";

const help = `Usage: npm run demo

Shows two payments on this machine, with a real Temporal server: starts a dev server with its Web UI,
the simulator of the payment service, and a worker, all on free ports; onboards a cardholder
(examples/onboard.json) and makes a payout to a new beneficiary (examples/payout.json); prints both
results; stops everything that it started. A missing Temporal server is installed first.

Options:
  --help   shows this text

Exit codes: 0 both runs succeeded, 1 something failed, 130 interrupted.
`;

const JOBS = [
  {
    title: "Onboarding a cardholder: identity check, USD balance, and a card with its first funds",
    command: "onboard",
    file: "examples/onboard.json",
    id: "demo-onboarding",
  },
  {
    title: "Making a payout to a new beneficiary, and waiting until it has completed",
    command: "pay",
    file: "examples/payout.json",
    id: "demo-payout",
  },
] as const;

const PORTS = {
  temporal: { option: "the Temporal server" },
  webUi: { option: "the Web UI" },
  simulator: { option: "the simulator" },
};

await runCommand({ help, options: {} }, async () => {
  const started = Date.now();
  const report = reporter(process.stdout);
  const signal = interruption();
  const show = (line: string) => {
    // The starter ends with the demo, and prints so: one line is enough.
    if (!signal.aborted) report.line(line);
  };
  const run = async (stack: Stack) => {
    show(`Web UI, while the demo runs: ${stack.webUi}`);
    let failures = 0;
    for (const [index, { title, command, file, id }] of JOBS.entries()) {
      show(`\n${index + 1}. ${title}`);
      show(`   input  ${file}`);
      show(`   watch  ${stack.webUi}/namespaces/default/workflows/${id}`);
      const { lines, state } = await follow(stack, [command, join(checkout, file)], id, (line) =>
        show(`     ${line}`),
      );
      signal.throwIfAborted();
      show(`   ${state}`);
      for (const line of lines) show(`     ${line}`);
      if (state !== "succeeded") failures += 1;
    }
    if (failures > 0) {
      throw new Error(`\n${failures} of ${JOBS.length} runs failed; logs: ${stack.logFolder}`);
    }
  };
  try {
    await withStack({ name: "demo", ports: PORTS, signal }, report, run);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    report.line("\nInterrupted; everything that the demo started has been stopped.");
    return error.exitCode;
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  report.line(`\nBoth runs succeeded; everything has been stopped (${seconds} s).`);
  return 0;
});

/** How a run ended: its state, each step and the id of its result, and why it failed. */
interface Outcome {
  readonly state: string;
  readonly lines: ReadonlyArray<string>;
}

/** Starts a run by the starter, and follows it to its end. */
async function follow(
  stack: Stack,
  args: ReadonlyArray<string>,
  id: string,
  onProgress: (line: string) => void,
): Promise<Outcome> {
  const start = stack.spawn("start", appArguments("starter", [...args, "--id", id, "--json"]));
  const { code } = await start.exited;
  if (code !== 0) throw failed(start, code);
  const show = stack.spawn("show", appArguments("starter", ["show", id, "--follow", "--json"]));
  let unread = "";
  show.onStderr((text) => {
    const lines = (unread + text).split("\n");
    unread = lines.pop() ?? "";
    lines.filter((line) => line.trim() !== "").forEach(onProgress);
  });
  const ended = await show.exited;
  if (ended.code !== 0) throw failed(show, ended.code);
  return outcomeOf(JSON.parse(show.stdout()));
}

function failed(starter: StartedProcess, code: number | undefined): Error {
  return new Error(
    `${starter.name} ended with exit code ${code}. Its last lines:\n${lastLines(starter)}`,
  );
}

/** Reads the JSON object that `starter show ID --json` prints. */
function outcomeOf(run: unknown): Outcome {
  const { failure, state, steps } = isRecord(run) ? run : {};
  const rows = (Array.isArray(steps) ? steps : [])
    .filter(isRecord)
    .filter(({ kind }) => kind === "write" || kind === "wait")
    .map(({ madeId, name, text }) => [String(name), String(madeId ?? text)] as const);
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const why = isRecord(failure) ? [String(failure["message"])] : [];
  return {
    state: String(state),
    lines: [...rows.map(([name, what]) => `${name.padEnd(width)}  ${what}`), ...why],
  };
}
