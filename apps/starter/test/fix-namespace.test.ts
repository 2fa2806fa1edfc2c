import { searchAttributes } from "@durable-payments/protocol";
import { startSimulator } from "@durable-payments/simulator";
import { beneficiary, holding, options, payout } from "@durable-payments/tools/test-data";
import {
  createLocalEnvironment,
  runApp,
  serviceVariables,
  startApp,
} from "@durable-payments/tools/testing";
import { msToTs } from "@temporalio/common/lib/time.js";
import { afterAll, expect, it, vi } from "vitest";
import { jsonOf, makeStarter } from "./support/starter.ts";
import { hasTerminals, KEYS, screenOf } from "./support/terminal.ts";

// A busy machine takes its time.

const KEYWORD = 2;

const { file, starter, terminal, use } = await makeStarter();
// As a user of Temporal's command line has started it.
const temporal = await createLocalEnvironment({ isBare: true });
const simulator = await startSimulator({ settleAfter: 0, balances: { EUR: "1000.00" } });
afterAll(async () => {
  await temporal.teardown();
  await simulator.stop();
});
const service = serviceVariables(simulator);
const environment = { ...use({ TEMPORAL_ADDRESS: temporal.address }), ...service };

const names = searchAttributes.map(({ name }) => name);

const addNamespace = async (namespace: string): Promise<Readonly<Record<string, string>>> => {
  await temporal.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs("1 day"),
  });
  const env = { TEMPORAL_NAMESPACE: namespace };
  await expect
    .poll(() => starter(["doctor", "--json"], { env }), { timeout: 120_000 })
    .toMatchObject({ stdout: holding('"search attributes","status":"failed"') });
  return env;
};

it("makes a bare server ready for a worker, which names the command until then", async () => {
  const refused = await runApp("worker", ["--json"], environment);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toBe(
    `worker: The namespace "default" lacks search attributes that every run needs (${names.join(", ")}). Register them: npx @durable-payments/cli doctor --fix\n`,
  );
  const inCheckout = await runApp("worker", ["--json"], {
    ...environment,
    STARTER_COMMAND: "./starter",
  });
  expect(inCheckout.stderr).toContain("Register them: ./starter doctor --fix");
  const before = await starter(["doctor", "--json"]);
  expect(before.exitCode).toBe(1);
  expect(before.stdout).toContain('"remedy":"starter doctor --fix"');

  const input = await file("payout.json", { beneficiary, payout, options });
  const commands = [["runs", "list"], ["attention"], ["payout", "--file", input, "--id", "early"]];
  for (const args of commands) {
    expect(await starter(args)).toMatchObject({
      exitCode: 3,
      stderr: `error The namespace "default" of ${temporal.address} lacks search attributes, without which no run can be started or found. Register what is missing: starter doctor --fix\n`,
    });
  }
  const unasked = await starter(["doctor", "--fix"]);
  expect(unasked).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unasked.stderr).toMatch(/--yes[^]*Nothing\s+was\s+done/);
  expect(unasked.stderr).not.toContain("u{a}");
  expect(await runApp("worker", ["--json"], environment)).toMatchObject({ exitCode: 1 });

  const fixed = await starter(["doctor", "--fix", "--yes", "--json"]);
  expect(fixed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(jsonOf(fixed)).toEqual({
    ok: true,
    address: temporal.address,
    namespace: "default",
    registered: searchAttributes.map(({ name, type }) => ({
      name,
      type: type === "KEYWORD" ? "Keyword" : "KeywordList",
    })),
    before: [],
  });
  const worker = await startApp("worker", ["--json"], environment);
  try {
    const paid = await starter(["payout", "--file", input, "--id", "first", "--wait", "--json"]);
    expect(jsonOf(paid)).toMatchObject({ workflowId: "first", state: "completed" });
  } finally {
    await worker.kill("SIGKILL");
  }

  const again = await starter(["doctor", "--fix", "--json"]);
  expect(again.exitCode).toBe(0);
  expect(jsonOf(again)).toMatchObject({ ok: true, registered: [] });
  expect((await starter(["doctor", "--fix"])).stdout).toMatch(/^Nothing to do: /);
});

it.runIf(hasTerminals)("asks once at a terminal, and names what it registers where", async () => {
  const env = await addNamespace("asked");
  const declined = terminal(["doctor", "--fix"], { env });
  await declined.seen("[y/N]");
  declined.type(`n${KEYS.enter}`);
  expect(await declined.ended).toMatchObject({ exitCode: 2, shown: holding("Nothing was done") });

  const agreed = terminal(["doctor", "--fix"], { env });
  await agreed.seen("[y/N]");
  agreed.type(`y${KEYS.enter}`);
  const { exitCode, shown } = await agreed.ended;
  const screen = screenOf(shown).join(" ");
  expect(screen).toMatch(/Register the search attributes PaymentStage \(Keyword\).*"asked" of/);
  expect(screen).toMatch(/Registered the search attributes PaymentStage \(Keyword\).*"asked" of/);
  expect(exitCode).toBe(0);
});

it("registers nothing where one has another type, or there is no room", async () => {
  const env = await addNamespace("taken");
  const add = (attributes: Readonly<Record<string, number>>) =>
    temporal.connection.operatorService.addSearchAttributes({
      namespace: "taken",
      searchAttributes: attributes,
    });
  await add(
    Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`Other${index}`, KEYWORD])),
  );
  const full = await starter(["doctor", "--fix", "--yes", "--json"], { env });
  expect(full.exitCode).toBe(2);
  expect(jsonOf(full)).toMatchObject({
    error: { message: holding("cannot have more than 10 search attribute of type Keyword") },
  });

  await add({ PaymentIds: KEYWORD });
  await vi.waitFor(
    async () => {
      const wrong = await starter(["doctor", "--fix", "--yes", "--json"], { env });
      expect(wrong.exitCode).toBe(2);
      expect(jsonOf(wrong)).toMatchObject({
        error: { message: holding("PaymentIds is of type Keyword, not KeywordList") },
      });
    },
    { timeout: 120_000 },
  );
  const worker = await runApp("worker", ["--json"], { ...environment, ...env });
  expect(worker).toMatchObject({ exitCode: 1, stderr: holding("PaymentIds is of type Keyword") });
});

it("makes no namespace", async () => {
  const missing = await starter(["doctor", "--fix", "--yes", "--json"], {
    env: { TEMPORAL_NAMESPACE: "nowhere" },
  });
  expect(missing.exitCode).toBe(3);
  expect(jsonOf(missing)).toMatchObject({ error: { type: "NamespaceNotFound" } });
});

it("takes --yes with --fix alone", async () => {
  expect(await starter(["doctor", "--yes"])).toMatchObject({ exitCode: 2, stdout: "" });
});
