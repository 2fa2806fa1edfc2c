import { once } from "node:events";
import { relative } from "node:path";
import { Interrupted, interruption, reporter, runCommand } from "./command.ts";
import { announceDevStack, type Part, type Stack, startStack, workerSettings } from "./stack.ts";

const PORTS = { temporal: 7233, webUi: 8233, simulator: 4010, simulatorEu: 4011 };

const DESCRIPTION = `Runs a Temporal dev server with its Web UI, two simulators of the payment service, and a worker with an
  account at each (the second is named eu), until Ctrl-C. Everything is in memory, or removed at the end. In another terminal
  in the same checkout "./durable-payments …" and "npm run worker" then talk to this stack. If a part ends, or you kill it, the
  others keep running, so you can practise an outage. "npm run worker" starts the worker again.

  The ports are ${Object.values(PORTS).join(", ")}; a port in use is replaced by a free one. The worker reads your variables
  such as PAYMENTS_APPROVE_ABOVE, but neither your PAYMENTS_SETTINGS nor the address or credentials of your payment service.

  Exit codes: 0 stopped by Ctrl-C or SIGTERM, 1 a part did not start, 2 invalid options.`;

await runCommand("npm run dev --", DESCRIPTION, {}, async () => {
  const report = reporter();
  const signal = interruption();
  const options = {
    name: "dev",
    ports: PORTS,
    signal,
    workerSettings: workerSettings(),
    onEnded: (part: Part, what: string) =>
      report.line(
        part === "worker"
          ? `${what}; the rest keeps running. To start another one, run this in another terminal in this folder:\n  npm run worker`
          : `${what}; its data is lost. The rest keeps running. To start over, press Ctrl-C, and start again.`,
      ),
  };
  let stack: Stack | undefined;
  try {
    stack = await startStack(options, report);
    const withdraw = announceDevStack(stack.variables);
    process.stdout.write(describe(stack));
    if (!signal.aborted) await once(signal, "abort");
    withdraw();
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
  await stack?.end();
  report.line("Stopped; nothing is left running.");
  return 0;
});

function describe({ eu, logFolder, parts, variables }: Stack): string {
  const service = variables["PAYMENTS_BASE_URL"];
  return `
Running until Ctrl-C:
  Temporal         ${variables["TEMPORAL_ADDRESS"]} (namespace ${variables["TEMPORAL_NAMESPACE"]}, process ${parts.temporal.pid})
  Web UI           ${variables["TEMPORAL_UI_URL"]}
  Payment service  ${service} (simulator, process ${parts.simulator.pid})
  Account eu       ${eu} (simulator, process ${parts.simulatorEu.pid})
  Worker           task queue ${variables["PAYMENTS_TASK_QUEUE"]} (process ${parts.worker.pid})
  Logs             ${relative(process.cwd(), logFolder)}

In another terminal in this folder:
  ./durable-payments onboard examples/onboard.json --by ada
  ./durable-payments pay examples/payout.json --id invoice-17 --by ada
  ./durable-payments pay examples/payout-from-eu.json --id invoice-18 --by ada
  ./durable-payments show invoice-17 --follow
  # To lose the response to the next payout:
  curl --json '{"kind":"dropped","operation":"createPayout"}' -s ${service}/_simulator/faults

For other programs:
${Object.entries(variables)
  .map(([name, value]) => `  export ${name}=${value}\n`)
  .join("")}
`;
}
