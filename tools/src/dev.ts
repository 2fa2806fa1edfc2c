import { relative } from "node:path";
import { BadOption, Interrupted, interruption, reporter, runCommand } from "./command.ts";
import {
  announceDevStack,
  type EndedPart,
  OPTIONAL_PARTS,
  type OptionalPart,
  parsePort,
  type Part,
  type Stack,
  withStack,
  workerSettings,
} from "./stack.ts";

const PREFERRED = { temporal: 7233, ui: 8233, simulator: 4010 };

const help = `Usage: npm run dev [-- OPTIONS]

Runs a Temporal dev server with its Web UI, the simulator of the payment service, and a worker,
until Ctrl-C. Everything is in memory, or removed at the end. In another terminal in the same checkout
"./starter …" and "npm run worker" then talk to this stack.
If a part ends, or you kill it, the others keep running, so you can practise an outage. The command that
restarts the part with the same ports and data is then printed.

Options:
  --temporal-port PORT    port of the Temporal server, default ${PREFERRED.temporal}
  --ui-port PORT          port of its Web UI, default ${PREFERRED.ui}
  --simulator-port PORT   port of the payment service, default ${PREFERRED.simulator}
  --without PART          does not start the simulator or the worker; repeatable
  --help                  shows this text

The worker reads your PAYMENTS_* settings, such as PAYMENTS_APPROVE_ABOVE, but never the address or
credentials of your payment service. If a default port is in use, a free port replaces it. If a port that
you name is in use, the command fails.
Exit codes: 0 stopped by Ctrl-C or SIGTERM, 1 a part did not start, 2 invalid options.
`;

const port = { type: "string" } as const;

await runCommand(
  {
    help,
    options: {
      "temporal-port": port,
      "ui-port": port,
      "simulator-port": port,
      without: { type: "string", multiple: true },
    },
  },
  async (values) => {
    const wish = (name: keyof typeof PREFERRED) => {
      const option = `--${name}-port`;
      const wanted = parsePort(option, values[`${name}-port`]);
      return { option, preferred: PREFERRED[name], ...(wanted !== undefined && { wanted }) };
    };
    const report = reporter();
    const signal = interruption();
    const options = {
      name: "dev",
      ports: { temporal: wish("temporal"), webUi: wish("ui"), simulator: wish("simulator") },
      signal,
      without: new Set(values.without?.map(parsePart)),
      workerSettings: workerSettings(),
      onEnded: (ended: EndedPart, stack: Stack) => report.line(describeEnd(ended, stack)),
    };
    try {
      return await withStack(options, report, async (stack) => {
        const withdraw = await announceDevStack(stack.variables);
        try {
          process.stdout.write(describe(stack));
          if (withdraw === undefined) {
            report.line("Another stack of this checkout is running: ./starter keeps using it.");
          }
          return await new Promise<never>((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          });
        } finally {
          await withdraw?.();
        }
      });
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      report.line("Stopped; nothing is left running.");
      return 0;
    }
  },
);

function parsePart(wanted: string): OptionalPart {
  const known = OPTIONAL_PARTS.find((part) => part === wanted);
  if (known !== undefined) return known;
  throw new BadOption(`--without takes ${OPTIONAL_PARTS.join(" or ")}; got "${wanted}".`);
}

/** The command that starts a missing part by hand, with the same addresses and the same ledger. */
function commandOf(part: OptionalPart, { ledgerFile, variables }: Stack): string {
  if (part === "worker") return "npm run worker";
  const { port: simulatorPort } = new URL(String(variables["PAYMENTS_BASE_URL"]));
  const file = relative(process.cwd(), ledgerFile);
  return `npm run simulator -- --port ${simulatorPort} --state-file ${file}`;
}

function describeEnd({ lastLines, part, what }: EndedPart, stack: Stack): string {
  return part === "temporal"
    ? `${what}; its runs are lost with it. Press Ctrl-C, and start again. Its last lines:\n${lastLines}`
    : `${what}; the rest keeps running. To restart that part, run this in another terminal in this folder:\n  ${commandOf(part, stack)}`;
}

function describe(stack: Stack): string {
  const { logFolder, parts, variables, webUi } = stack;
  const running = (part: Part, what: string) => {
    const started = parts[part];
    return started === undefined ? "not started" : `${what}, process ${started.pid}`;
  };
  const missing = OPTIONAL_PARTS.filter((part) => parts[part] === undefined);
  const service = variables["PAYMENTS_BASE_URL"];
  return `
Running until Ctrl-C:
  Temporal         ${variables["TEMPORAL_ADDRESS"]} (${running("temporal", `namespace ${variables["TEMPORAL_NAMESPACE"]}`)})
  Web UI           ${webUi}
  Payment service  ${service} (${running("simulator", "simulator")})
  Worker           task queue ${variables["PAYMENTS_TASK_QUEUE"]} (${running("worker", "running")})
  Logs             ${relative(process.cwd(), logFolder)}

In another terminal in this folder:
${missing.map((part) => `  ${commandOf(part, stack)}\n`).join("")}  ./starter onboard examples/onboard.json
  ./starter pay examples/payout.json --id invoice-17
  ./starter show invoice-17 --follow
  # To lose the response to the next payout:
  curl --json '{"kind":"dropped","operation":"createPayout"}' -s ${service}/_simulator/faults

For other programs:
${Object.entries(variables)
  .map(([name, value]) => `  export ${name}=${value}\n`)
  .join("")}
`;
}
