import { relative } from "node:path";
import { DEFAULT_SHARDS } from "./cluster/cluster.ts";
import { interruption, Interrupted } from "./command/interruption.ts";
import { reporter } from "./command/progress.ts";
import { BadOption, runCommand } from "./command/run-command.ts";
import { announceDevStack } from "./stack/dev-environment.ts";
import { workerSettings } from "./stack/service-variables.ts";
import { parsePort } from "./stack/ports.ts";
import { type EndedPart, OPTIONAL_PARTS, type OptionalPart } from "./stack/running-part.ts";
import { type Stack, withStack } from "./stack/stack.ts";

const preferred = { temporal: 7233, webUi: 8233, simulator: 4010 };

const help = `Usage: npm run dev [-- OPTIONS]

Runs a Temporal dev server with its Web UI, the simulator of the payment service, and a worker,
until Ctrl-C. Everything is in memory, or removed at the end. In another terminal of the same checkout
"./starter …" and "npm run worker" then talk to this stack.
A part that ends, or that you kill, leaves the others running: so an outage can be practised.
The command that starts it again, with the same ports and the same data, is printed then.

Options:
  --temporal-port PORT    of the Temporal server, default ${preferred.temporal}
  --ui-port PORT          of its Web UI, default ${preferred.webUi}
  --simulator-port PORT   of the payment service, default ${preferred.simulator}
  --server KIND           dev, Temporal's dev server in memory, or postgres: its server in several processes
                          on PostgreSQL, built from its Go module at the first time; default dev
  --shards N              history shards of --server postgres, default ${DEFAULT_SHARDS}
  --without PART          does not start the simulator or the worker; repeatable
  --help                  shows this text

The worker takes your PAYMENTS_* settings, such as PAYMENTS_APPROVE_ABOVE; never your service's address
or credentials.
A default port that is in use is replaced by a free one; a port that is asked for is not.
Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 a part did not start, 2 bad options.
`;

const port = { type: "string" } as const;

await runCommand(
  {
    help,
    options: {
      "temporal-port": port,
      "ui-port": port,
      "simulator-port": port,
      server: { type: "string" },
      shards: { type: "string" },
      without: { type: "string", multiple: true },
    },
  },
  async (values) => {
    const without = parseParts(values.without ?? []);
    const clusterShards = parseShards(values);
    const wish = (option: "temporal-port" | "ui-port" | "simulator-port", defaultPort: number) => {
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
      const onEnded = (ended: EndedPart, stack: Stack) => report.line(describeEnd(ended, stack));
      const options = {
        name: "dev",
        ports,
        signal,
        without,
        ...(clusterShards !== undefined && { clusterShards }),
        workerSettings: workerSettings(),
        onEnded,
      };
      return await withStack(options, report, async (stack) => {
        const withdraw = await announceDevStack(stack.variables);
        try {
          process.stdout.write(describe(stack));
          if (withdraw === undefined) {
            report.line("Another stack of this checkout runs: ./starter keeps talking to it.");
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

function parseParts(wanted: readonly string[]): ReadonlySet<OptionalPart> {
  return new Set(
    wanted.map((part) => {
      const known = OPTIONAL_PARTS.find((one) => one === part);
      if (known !== undefined) return known;
      throw new BadOption(`--without takes ${OPTIONAL_PARTS.join(" or ")}; got "${part}".`);
    }),
  );
}

/** The shards of a cluster, where one is asked for. */
function parseShards({
  server = "dev",
  shards,
}: {
  readonly server?: string | undefined;
  readonly shards?: string | undefined;
}): number | undefined {
  if (server === "dev") {
    if (shards === undefined) return undefined;
    throw new BadOption("--shards is for --server postgres: the dev server has one.");
  }
  if (server !== "postgres") {
    throw new BadOption(`--server must be dev or postgres; got "${server}".`);
  }
  if (shards === undefined) return DEFAULT_SHARDS;
  const number = Number(shards);
  if (/^\d+$/.test(shards) && number >= 1 && number <= 16_384) return number;
  throw new BadOption(`--shards must be a whole number from 1 to 16384; got "${shards}".`);
}

/** How a part that is not there is started by hand, with the same addresses and the same ledger. */
function commandOf(part: OptionalPart, { ledgerFile, variables }: Stack): string {
  if (part === "worker") return "npm run worker";
  const { port } = new URL(String(variables["PAYMENTS_BASE_URL"]));
  return `npm run simulator -- --port ${port} --state-file ${relative(process.cwd(), ledgerFile)}`;
}

/** The command that makes the simulator break the next payout: it is made, and its answer is lost. */
function faultCommand({ variables }: Stack): string {
  return `curl --json '{"kind":"dropped","operation":"createPayout"}' -s ${variables["PAYMENTS_BASE_URL"]}/_simulator/faults`;
}

function describeEnd({ command, lastLines, part, what }: EndedPart, stack: Stack): string {
  if (command !== undefined) {
    return `${what}; the rest runs on. In another terminal, to start it again:\n  ${command}`;
  }
  if (part === "temporal") {
    return `${what}; its runs are lost with it. End this by Ctrl-C, and start anew. Its last lines:\n${lastLines}`;
  }
  return `${what}; the rest runs on. In another terminal of this folder, to start it again:\n  ${commandOf(part, stack)}`;
}

function describe(stack: Stack): string {
  const { logFolder, processIds, variables, webUi } = stack;
  const running = (part: EndedPart["part"], what: string) => {
    const id = processIds[part];
    return id === undefined ? "not started" : `${what}, process ${id}`;
  };
  const missing = OPTIONAL_PARTS.filter((part) => processIds[part] === undefined);
  return `
Running until Ctrl-C:
  Temporal         ${variables["TEMPORAL_ADDRESS"]} (namespace ${variables["TEMPORAL_NAMESPACE"]}, process ${processIds.temporal})
  Web UI           ${webUi}
  Payment service  ${variables["PAYMENTS_BASE_URL"]} (${running("simulator", "simulator")})
  Worker           task queue ${variables["PAYMENTS_TASK_QUEUE"]} (${running("worker", "running")})
  Logs             ${relative(process.cwd(), logFolder)}

In another terminal of this folder:
${missing.map((part) => `  ${commandOf(part, stack)}\n`).join("")}  ./starter onboard examples/onboard.json
  ./starter pay examples/payout.json --id invoice-17
  ./starter show invoice-17 --follow
  # To lose the answer to the next payout:
  ${faultCommand(stack)}

For other programs:
${Object.entries(variables)
  .map(([name, value]) => `  export ${name}=${value}\n`)
  .join("")}
`;
}
