import type { View } from "@durable-payments/operations/runs";
import { PAYMENT_STAGE, trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { startSimulator } from "@durable-payments/simulator";
import { fields, holding, like, listWith } from "@durable-payments/tools/test-data";
import {
  createLocalEnvironment,
  serviceVariables,
  startApp,
} from "@durable-payments/tools/testing";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it, vi } from "vitest";
import { jsonOf, makeStarter } from "./support/starter.ts";

// A busy machine takes its time.

const PATIENCE = { timeout: 120_000, interval: 500 };

const { file, starter, starterProcess, use } = await makeStarter();
const temporal = await createLocalEnvironment();
const simulator = await startSimulator();
const journal = await file("journal.sqlite", "");
const environment = use({
  TEMPORAL_ADDRESS: temporal.address,
  ...serviceVariables(simulator),
  PAYMENTS_JOURNAL: `sqlite:${journal}`,
});
const worker = await startApp("worker", ["--json"], environment);
const account = accountHash({ baseUrl: simulator.url, clientId: simulator.clientId });
afterAll(async () => {
  await worker.kill("SIGKILL");
  await simulator.stop();
  await temporal.teardown();
});

const examine = async () => {
  const called = await starter(["doctor", "--json"]);
  return { exitCode: called.exitCode, checks: jsonOf(called)["checks"] };
};

it("asks a worker, the tracker, the journal and the retention for a sign of life", async () => {
  await vi.waitFor(async () => {
    const { checks, exitCode } = await examine();
    expect(checks).toEqual(
      listWith(
        fields({
          name: "worker, workflow tasks",
          status: "ok",
          detail: like(/^1 on task queue payments, answers in \d+ ms$/),
        }),
        fields({
          name: "tracker",
          status: "ok",
          detail: like(new RegExp(`^tracker/${account}, sign of life \\d+ s ago, 0 waited for$`)),
        }),
        fields({ name: "account", status: "ok", detail: holding(account) }),
        fields({
          name: "retention",
          status: "warning",
          detail: holding("1 day after its end"),
          remedy: holding("temporal operator namespace update"),
        }),
      ),
    );
    expect(exitCode).toBe(0);
  }, PATIENCE);
});

it("links to views in the Web UI, which leave out what is no payment work", async () => {
  const { workflow } = temporal.client;
  await workflow.start("payout", {
    taskQueue: "nobody-polls",
    workflowId: "asks",
    typedSearchAttributes: [{ key: PAYMENT_STAGE, value: "needsAttention" }],
  });
  // As nothing signs in here, neither is any leased.
  await workflow.start("signInLease", { taskQueue: "nobody-polls", workflowId: "lease" });
  await workflow.start("payoutBatchChunk", { taskQueue: "nobody-polls", workflowId: "chunk" });
  const called = await starter(["doctor", "--json"], {
    env: { TEMPORAL_UI_URL: "http://web-ui.example/" },
  });
  // As it is printed.
  const views = jsonOf(called)["views"] as ReadonlyArray<View>;
  const counts = () =>
    Promise.all(
      views.map(async ({ name, query }) => [name, (await workflow.count(query)).count] as const),
    );
  // Every query is one that the server takes. The tracker runs, too.
  await vi.waitFor(async () => {
    expect((await workflow.count()).count).toBeGreaterThanOrEqual(4);
    expect(Object.fromEntries(await counts())).toEqual({
      "needs attention": 1,
      "failed this week": 0,
      "waiting for funds": 0,
      batches: 0,
      "payouts of batches": 0,
      "all payment work": 1,
    });
  }, PATIENCE);
  await workflow.getHandle("asks").terminate();
  await vi.waitFor(async () => {
    expect(Object.fromEntries(await counts())).toMatchObject({ "failed this week": 1 });
  }, PATIENCE);

  for (const { link, query } of views) {
    const { origin, pathname, searchParams } = new URL(link ?? "");
    expect(`${origin}${pathname}`).toBe("http://web-ui.example/namespaces/default/workflows");
    expect(searchParams.get("query")).toBe(query);
    expect(link).toMatch(/^[\w:/.?=%-]+$/);
  }
  const person = await starter(["doctor"], { env: { TEMPORAL_UI_URL: "http://web-ui.example" } });
  for (const { link } of views) expect(person.stdout).toContain(`\n    ${link}`);
  expect((await starter(["doctor"])).stdout).not.toContain("Web UI");
});

it("finds that the workers work for another account", async () => {
  // In a process of its own: Effect keeps the settings of the first command of a process.
  const called = await starterProcess(["doctor", "--json"], {
    env: { PAYMENTS_CLIENT_ID: "somebody-else" },
  });
  const { checks } = jsonOf(called);
  expect(called.exitCode).toBe(1);
  expect(checks).toEqual(
    listWith(fields({ name: "account", status: "failed", detail: holding(`work for ${account}`) })),
  );
});

it("finds that the journal can be read, and not be written", async () => {
  const database = new DatabaseSync(journal);
  database.exec(
    "CREATE TRIGGER full BEFORE INSERT ON list_lags BEGIN SELECT RAISE(FAIL, 'no space left'); END",
  );
  try {
    const { checks, exitCode } = await examine();
    expect(exitCode).toBe(1);
    expect(checks).toEqual(
      listWith(
        fields({ name: "journal of sends", status: "failed", detail: holding("no space left") }),
      ),
    );
  } finally {
    database.exec("DROP TRIGGER full");
    database.close();
  }
});

it("finds a worker that hangs, and a tracker that is late, within seconds", async () => {
  worker.send("SIGSTOP");
  try {
    const asked = Date.now();
    const { checks, exitCode } = await examine();
    expect(Date.now() - asked).toBeLessThan(10_000);
    expect(exitCode).toBe(1);
    expect(checks).toEqual(
      listWith(
        fields({
          name: "worker, workflow tasks",
          status: "failed",
          detail: holding("none answers within 3 s"),
          remedy: holding("SIGKILL"),
        }),
      ),
    );
    await vi.waitFor(async () => {
      expect((await examine()).checks).toEqual(
        listWith(
          fields({ name: "tracker", status: "failed", detail: like(/ is late: no sign of life/) }),
        ),
      );
    }, PATIENCE);
    // Temporal has not seen a poll for long by then, and says so itself.
    const later = await examine();
    expect(later.checks).toEqual(
      listWith(fields({ name: "worker, workflow tasks", status: "failed" })),
    );
    expect(later.exitCode).toBe(1);
  } finally {
    worker.send("SIGCONT");
  }
  await vi.waitFor(async () => expect((await examine()).exitCode).toBe(0), PATIENCE);
});

it("says that no tracker runs, until a worker starts one", async () => {
  await temporal.client.workflow.getHandle(trackerId(account)).terminate();
  await vi.waitFor(async () => {
    const { checks } = await examine();
    expect(checks).toEqual(
      listWith(
        fields({ name: "tracker", status: "warning", remedy: holding("within a minute") }),
        fields({ name: "worker, workflow tasks", status: "warning" }),
      ),
    );
  }, PATIENCE);
});
