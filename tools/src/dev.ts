import { relative } from "node:path";
import { interruption, Interrupted } from "./command/interruption.ts";
import { reporter } from "./command/progress.ts";
import { runCommand } from "./command/run-command.ts";
import { announceDevStack } from "./stack/dev-environment.ts";
import { parsePort } from "./stack/ports.ts";
import { withStack } from "./stack/stack.ts";

const preferred = { temporal: 7233, webUi: 8233, simulator: 4010 };

const help = `Usage: npm run dev [-- OPTIONS]

Runs a Temporal dev server with its Web UI, the simulator of the payment service, and a worker,
until Ctrl-C. Everything is in memory. In another terminal of the same checkout
"npm run starter -- …" then talks to this stack.

Options:
  --temporal-port PORT    of the Temporal server, default ${preferred.temporal}
  --ui-port PORT          of its Web UI, default ${preferred.webUi}
  --simulator-port PORT   of the payment service, default ${preferred.simulator}
  --help                  shows this text

A default port that is in use is replaced by a free one; a port that is asked for is not.
Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 a part of it failed, 2 bad options.
`;

const port = { type: "string" } as const;

await runCommand(
  { help, options: { "temporal-port": port, "ui-port": port, "simulator-port": port } },
  async (values) => {
    const wish = (option: keyof typeof values, defaultPort: number) => {
      const wanted = parsePort(`--${option}`, values[option]);
      return {
        option: `--${option}`,
        preferred: defaultPort,
        ...(wanted !== undefined && { wanted }),
      };
    };
    const ports = {
      temporal: wish("temporal-port", preferred.temporal),
      webUi: wish("ui-port", preferred.webUi),
      simulator: wish("simulator-port", preferred.simulator),
    };
    const report = reporter();
    const signal = interruption();
    try {
      return await withStack({ name: "dev", ports, signal }, report, async (stack) => {
        const withdraw = await announceDevStack(stack.variables);
        try {
          process.stdout.write(describe(stack.webUi, stack.variables, stack.logFolder));
          if (withdraw === undefined) {
            report.line(
              "Another stack of this checkout runs: npm run starter keeps talking to it.",
            );
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
      report.line("Ended; nothing is left running.");
      return 0;
    }
  },
);

function describe(
  webUi: string,
  variables: Readonly<Record<string, string>>,
  logFolder: string,
): string {
  return `
Running until Ctrl-C:
  Temporal         ${variables["TEMPORAL_ADDRESS"]} (namespace ${variables["TEMPORAL_NAMESPACE"]})
  Web UI           ${webUi}
  Payment service  ${variables["PAYMENTS_BASE_URL"]} (simulator)
  Worker           task queue ${variables["PAYMENTS_TASK_QUEUE"]}
  Logs             ${relative(process.cwd(), logFolder)}

In another terminal of this folder:
  npm run starter -- onboard --file examples/onboard.json --wait
  npm run starter -- payout --file examples/payout.json --wait

For other programs:
${Object.entries(variables)
  .map(([name, value]) => `  export ${name}=${value}\n`)
  .join("")}
`;
}
