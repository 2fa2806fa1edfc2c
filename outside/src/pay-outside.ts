import { deepEqual } from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@durable-payments/api-core/values";
import { awaitReadyLine, type StartedProcess } from "@durable-payments/tools/processes";
import type { Checks } from "./checks.ts";
import { type User, userIn } from "./user.ts";

/** Another first step. */
const withOneMore = (workflow: string): string =>
  `import { sleep } from "@temporalio/workflow";\n${workflow.replace("const { beneficiary_id }", 'await sleep("1 second");\n$&')}`;

const endsWell = async (worker: StartedProcess): Promise<void> =>
  deepEqual(await worker.kill("SIGTERM"), { code: 0, signal: undefined }, worker.stderr());

/** The status of each payout that the simulator holds. */
const payoutsOf = async (service: string): Promise<ReadonlyArray<string>> => {
  const state: unknown = await (await fetch(`${service}/_simulator/state`)).json();
  const payouts: ReadonlyArray<unknown> =
    isRecord(state) && Array.isArray(state["payouts"]) ? state["payouts"] : [];
  return payouts.map((payout) => (isRecord(payout) ? String(payout["payout_status"]) : ""));
};

const pay = (id: string) => ["pay", "payout.json", "--id", id, "--yes", "--json"];
const followed = (id: string) => ["show", id, "--follow", "--exit-status"];

/** Runs the project's worker and workflow against simulator and server, then looks at the run with the command line. */
export const payOutside = async (
  { folder }: User,
  given: { readonly temporal: string; readonly temporalCli: string; readonly isWhole: boolean },
  { check }: Pick<Checks, "check">,
): Promise<void> => {
  const simulated = ["--port", "0", "--json", "--settle-after", "0 seconds"];
  const simulator = userIn(folder).start("payments-simulator", simulated);
  try {
    const service = await check("the simulator starts", () => awaitReadyLine(simulator, 30_000));
    if (service === undefined) return;
    const url = String(service["url"]);
    const user = userIn(folder, {
      TEMPORAL_ADDRESS: given.temporal,
      PAYMENTS_BASE_URL: url,
      PAYMENTS_CLIENT_ID: String(service["clientId"]),
      PAYMENTS_API_KEY: String(service["apiKey"]),
      PAYMENTS_LEDGER: `sqlite:${join(folder, "ledger.sqlite")}`,
    });
    const worker = user.start("node", ["src/worker.ts"]);
    const id = `invoice-${randomUUID()}`;
    try {
      await check("an own workflow pays, exactly once", async () => {
        await user.run("node", ["src/pay.ts", id]);
        deepEqual(await payoutsOf(url), ["completed"]);
      });
      if (given.isWhole) await operate(user, id, url, given, { check });
      await check("the worker drains on SIGTERM", () => endsWell(worker));
    } finally {
      await worker.kill("SIGKILL");
    }
    if (!given.isWhole) return;
    await check("the packaged worker pays, and drains", async () => {
      const packaged = user.start("payments-worker", []);
      try {
        const paid = randomUUID();
        await user.run("durable-payments", [...pay(paid), "--not-a-duplicate"]);
        await user.run("durable-payments", followed(paid));
        await endsWell(packaged);
      } finally {
        await packaged.kill("SIGKILL");
      }
    });
  } finally {
    await simulator.kill();
  }
};

/** Pays, shows and replays by the command line. */
const operate = async (
  user: User,
  id: string,
  service: string,
  { temporal, temporalCli }: { readonly temporal: string; readonly temporalCli: string },
  { check }: Pick<Checks, "check">,
): Promise<void> => {
  const inFolder = (file: string) => join(user.folder, file);
  const cli = (...args: ReadonlyArray<string>) => user.run("durable-payments", args);
  await check("the command line pays by the same worker", async () => {
    await cli(...pay(`payout-${id}`));
    await cli(...followed(`payout-${id}`));
    deepEqual(await payoutsOf(service), ["completed", "completed"]);
  });
  await check("the command line shows the run, and that all is well", async () => {
    await cli("show", id, "--exit-status", "--json");
    await cli("show", id, "--log", "--verify");
    await cli("doctor");
  });
  const replay = ["replay", "--file", "history.json", "--workflows"];
  await check("a history replays against the code", async () => {
    const show = ["workflow", "show", "--workflow-id", id, "--output", "json"];
    const history = await user.run(temporalCli, [...show, "--address", temporal]);
    await writeFile(inFolder("history.json"), history);
    await cli(...replay, "src/workflows.ts");
    await cli("replay", id, "--workflows", "src/workflows.ts");
  });
  await check("changed code does not replay, and its line is shown", async () => {
    const source = await readFile(inFolder("src/workflows.ts"), "utf8");
    await writeFile(inFolder("src/changed.ts"), withOneMore(source));
    const printed = await cli(...replay, "src/changed.ts").then(
      () => "It replayed.",
      (error: unknown) => String(error),
    );
    deepEqual(printed.match(/src\/changed\.ts/)?.[0], "src/changed.ts", printed);
  });
};
