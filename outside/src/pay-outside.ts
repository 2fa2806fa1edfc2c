import { deepEqual, ok } from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@durable-payments/api-core/values";
import type { NodeBinary } from "@durable-payments/tools/packages";
import { awaitReadyLine, type StartedProcess } from "@durable-payments/tools/processes";
import type { Checks } from "./checks.ts";
import { type User, userIn } from "./user.ts";

const readyWithinMs = 30_000;

/** Where a project is compiled, and what it runs on. */
export interface Compiled {
  readonly folder: string;
  readonly node: NodeBinary;
  /** Address of the Temporal server. */
  readonly temporal: string;
  /** Path of Temporal's command line. */
  readonly temporalCli: string;
  /** Whether it does more than one payment. */
  readonly isWhole: boolean;
}

/** The README's example of `@durable-payments/replay`, called for a module and a history. */
const replay = (module: string) => [
  "--input-type=module",
  "--eval",
  `import { pathToFileURL } from "node:url";
   import { goesOn } from "./src/goes-on.ts";
   process.exitCode = (await goesOn(pathToFileURL("${module}"), "history.json")) ? 0 : 1;`,
];

/** A step more before the first payment. */
const ONE_MORE = 'await sleep("1 second");';
const withOneMore = (workflow: string): string =>
  `import { sleep } from "@temporalio/workflow";\n${workflow.replace("const { beneficiary_id }", `${ONE_MORE}\n$&`)}`;

const endsWell = async (worker: StartedProcess): Promise<void> =>
  deepEqual(await worker.kill("SIGTERM"), { code: 0, signal: undefined }, worker.stderr());

/** Run the project's worker and workflow against simulator and server, then look at the run with the tools. */
export const payOutside = async (
  compiled: Compiled,
  { check }: Pick<Checks, "check">,
): Promise<void> => {
  const { folder, isWhole, node, temporal } = compiled;
  const simulator = userIn(folder, node).start("payments-simulator", [
    "--port",
    "0",
    "--json",
    "--settle-after",
    "0 seconds",
  ]);
  try {
    const service = await check(
      "the simulator starts",
      async () => await awaitReadyLine(simulator, readyWithinMs),
    );
    if (service === undefined) return;
    const user = userIn(folder, node, {
      TEMPORAL_ADDRESS: temporal,
      PAYMENTS_BASE_URL: String(service["url"]),
      PAYMENTS_CLIENT_ID: String(service["clientId"]),
      PAYMENTS_API_KEY: String(service["apiKey"]),
      PAYMENTS_LEDGER: `sqlite:${join(folder, "ledger.sqlite")}`,
    });
    const worker = user.start("node", ["src/worker.ts"]);
    try {
      await useRun(compiled, user, String(service["url"]), { check });
      await check("the worker drains on SIGTERM", async () => await endsWell(worker));
    } finally {
      await worker.kill("SIGKILL");
    }
    if (!isWhole) return;
    await check("the packaged worker pays, and drains", async () => {
      const packaged = user.start("payments-worker", []);
      try {
        const id = randomUUID();
        await user.run("durable-payments", [...pay(id), "--not-a-duplicate"]);
        await user.run("durable-payments", followed(id));
        await endsWell(packaged);
      } finally {
        await packaged.kill("SIGKILL");
      }
    });
  } finally {
    await simulator.kill();
  }
};

/** What the simulator has carried out, by the state of each payout. */
const ledgerOf = async (service: string): Promise<ReadonlyArray<string>> => {
  const ledger: unknown = await (await fetch(`${service}/_simulator/state`)).json();
  const payouts: ReadonlyArray<unknown> =
    isRecord(ledger) && Array.isArray(ledger["payouts"]) ? ledger["payouts"] : [];
  return payouts.map((payout) => (isRecord(payout) ? String(payout["payout_status"]) : ""));
};

const pay = (id: string) => ["pay", "payout.json", "--id", id, "--yes", "--json"];
const followed = (id: string) => ["show", id, "--follow", "--exit-status"];

const useRun = async (
  { folder, isWhole, temporal, temporalCli }: Compiled,
  user: User,
  service: string,
  { check }: Pick<Checks, "check">,
): Promise<void> => {
  const id = `invoice-${randomUUID()}`;
  const cli = async (...args: ReadonlyArray<string>) => await user.run("durable-payments", args);
  const paid = await check("an own workflow pays, exactly once", async () => {
    await user.run("node", ["src/pay.ts", id]);
    deepEqual(await ledgerOf(service), ["completed"]);
    return true;
  });
  if (paid === undefined || !isWhole) return;
  await check("the command line pays by the same worker", async () => {
    await cli(...pay(`payout-${id}`));
    await cli(...followed(`payout-${id}`));
    deepEqual(await ledgerOf(service), ["completed", "completed"]);
  });
  await check("the command line shows the run, and that all is well", async () => {
    await cli("show", id, "--exit-status", "--json");
    await cli("show", id, "--log", "--verify");
    await cli("doctor");
  });
  await check("a history replays against the code", async () => {
    const show = ["workflow", "show", "--workflow-id", id, "--output", "json"];
    const history = await user.run(temporalCli, [...show, "--address", temporal]);
    await writeFile(join(folder, "history.json"), history);
    await user.run("node", replay("src/workflows.ts"));
    await cli("replay", "--file", "history.json", "--workflows", "src/workflows.ts");
    await cli("replay", id, "--workflows", "src/workflows.ts");
  });
  await check(
    "code by which the run could not go on is shown, in lines of the project",
    async () => {
      const source = await readFile(join(folder, "src/workflows.ts"), "utf8");
      await writeFile(join(folder, "src/changed.ts"), withOneMore(source));
      const printed = await user.runToFail("node", replay("src/changed.ts"));
      ok(printed.includes(`source: '${ONE_MORE}'`), printed);
      deepEqual(printed.match(/file: '(?!src\/).*/g), null);
    },
  );
};
