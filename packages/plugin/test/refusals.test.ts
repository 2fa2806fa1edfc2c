import { registerNamespaceAttributes } from "@durable-payments/activities/namespace-attributes";
import { PAYMENT_IDS, searchAttributes } from "@durable-payments/protocol";
import { runTemporalCli } from "@durable-payments/tools/testing";
import { bundleWorkflowCode, Worker, type WorkerOptions } from "@temporalio/worker";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { CannotStart, type PaymentsSettings, PaymentsPlugin } from "../src/index.ts";
import { bundleAhead, workflowsPath } from "./support/bundle.ts";
import { quiet } from "./support/quiet.ts";
import { makeRig } from "./support/rig.ts";

const SECRET = "a-secret-that-nobody-may-see";

const { settings, simulator, temporal } = await makeRig({ isBare: true });
const workflowBundle = await bundleAhead();

const failureOf = async (
  more: PaymentsSettings = {},
  options: Partial<WorkerOptions> = {},
): Promise<unknown> => {
  try {
    await Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: "payments",
      workflowBundle,
      ...options,
      plugins: [new PaymentsPlugin({ ...settings, ...more }), ...(options.plugins ?? [])],
    });
  } catch (error) {
    return error;
  }
  throw new Error("the worker was created");
};

const unregistered = { connection: temporal.nativeConnection, namespace: "bare" };

beforeAll(async () => {
  await runTemporalCli("temporal operator namespace create --retention 1d bare", temporal.address);
  await registerNamespaceAttributes(
    temporal.connection.operatorService,
    "default",
    searchAttributes.map(({ name, type }) => ({ name, type })),
  );
});

afterEach(() => vi.unstubAllEnvs());

it("a namespace without search attributes, with the command that registers them", async () => {
  const failure = await failureOf({}, unregistered);
  expect(failure).toBeInstanceOf(CannotStart);
  expect(String(failure)).toBe(
    `CannotStart: The namespace "bare" lacks search attributes that every run needs (${searchAttributes.map(({ name }) => name).join(", ")}). Register them: npx @durable-payments/cli doctor --fix`,
  );
});

it("a namespace whose search attribute has another type", async () => {
  await runTemporalCli("temporal operator namespace create --retention 1d other", temporal.address);
  await vi.waitFor(
    () =>
      runTemporalCli(
        `temporal operator search-attribute create --namespace other --name ${PAYMENT_IDS.name} --type Text`,
        temporal.address,
      ),
    { timeout: 120_000 },
  );
  expect(String(await failureOf({}, { namespace: "other" }))).toMatch(
    /the search attribute PaymentIds is of type Text, not KeywordList/,
  );
});

it.each<readonly [string, PaymentsSettings, NodeJS.ProcessEnv, RegExp]>([
  ["an address that is none", { baseUrl: "payments" }, {}, /\(baseUrl\) must be an absolute URL/],
  [
    "a rate of none",
    { activitiesPerSecond: 0 },
    {},
    /: activitiesPerSecond must be a number above 0/,
  ],
  [
    "a rate of none by the environment",
    {},
    { PAYMENTS_FLEET_ACTIVITIES_PER_SECOND: "many" },
    /: PAYMENTS_FLEET_ACTIVITIES_PER_SECOND must be a number above 0/,
  ],
  ["a share of all", { batchShare: 1 }, {}, /: batchShare must be a number above 0 and below 1/],
  [
    "more polls than calls",
    { activitiesPerSecond: 2, fallbackPollingPerSecond: 3 },
    {},
    /: fallbackPollingPerSecond must be a number above 0 and below 2/,
  ],
  ["half a sign-in", { signInsPerMinute: 2.5 }, {}, /: signInsPerMinute must be a whole number/],
  [
    "limits that are no amounts",
    { maxAmounts: { USD: "a lot" } },
    {},
    /: maxAmounts must be a JSON object of decimal strings by currency/,
  ],
  [
    "limits that are none",
    { approveAbove: { usd: "10" } },
    {},
    /: approveAbove must be a JSON object/,
  ],
  [
    "one attempt alone",
    { maxAttempts: 1 },
    {},
    /: PAYMENTS_MAX_ATTEMPTS \(maxAttempts\) must be at least 2 for a worker/,
  ],
  [
    "a schema that is none",
    { inputs: { payInvoice: { schema: {} } } } as unknown as PaymentsSettings,
    {},
    /inputs\.payInvoice\.schema must be a Standard Schema/,
  ],
  [
    "an input that is none",
    { inputs: { payInvoice: null } } as unknown as PaymentsSettings,
    {},
    /inputs\.payInvoice\.schema must be a Standard Schema/,
  ],
  [
    "accounts that are none",
    { accounts: { eu: "client-7" } } as unknown as PaymentsSettings,
    {},
    /The account eu takes an object with settings/,
  ],
  [
    "a webhook without its secret",
    { notify: { url: "https://alerts.example" } },
    {},
    /PAYMENTS_NOTIFY_SECRET must be whsec_/,
  ],
  [
    "a signing secret that is none",
    { signingSecretFile: "package.json" },
    {},
    /signingSecretFile must name a file with a secret on each line/,
  ],
  [
    "a journal of no kind",
    { journal: `mysql://${SECRET}@host` },
    {},
    /The journal of sends cannot be used/,
  ],
  [
    "a journal that cannot be written",
    { journal: "sqlite:/dev/null/journal.sqlite" },
    {},
    /The journal of sends cannot be used: .*cannot be opened/,
  ],
  [
    "a build of no deployment",
    {},
    { PAYMENTS_BUILD_ID: "7" },
    /PAYMENTS_DEPLOYMENT_NAME and PAYMENTS_BUILD_ID belong together/,
  ],
  [
    "a build of no deployment by the worker controller",
    {},
    { TEMPORAL_WORKER_BUILD_ID: "7" },
    /TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID belong together/,
  ],
])("%s", async (_, more, env, message) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const failure = await failureOf(more);
  expect(failure).toBeInstanceOf(CannotStart);
  expect(String(failure)).toMatch(message);
  expect(String(failure)).not.toContain("\n");
  expect(String(failure)).not.toContain(SECRET);
  expect(String(failure)).not.toContain(simulator.apiKey);
});

it("what no setting, own or of the environment, says", async () => {
  vi.stubEnv("PAYMENTS_BASE_URL", "");
  const create = Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: "payments",
    workflowBundle,
    plugins: [new PaymentsPlugin()],
  });
  await expect(create).rejects.toThrow(
    /PAYMENTS_BASE_URL \(baseUrl\) .* PAYMENTS_API_KEY \(apiKey\)/,
  );
});

it("a setting of an unknown name", () => {
  const misspelt = { maxAmount: { USD: "1.00" } } as PaymentsSettings;
  expect(() => new PaymentsPlugin(misspelt)).toThrow(
    "PaymentsPlugin has no setting maxAmount (is it maxAmounts?). It has: baseUrl,",
  );
  const nested = { notify: { uri: "https://alerts.example" } } as PaymentsSettings;
  expect(() => new PaymentsPlugin(nested)).toThrow("has no setting uri (is it url?).");
});

it.each<readonly [unknown, string]>([
  [null, "PaymentsPlugin takes an object with settings."],
  ["settings", "PaymentsPlugin takes an object with settings."],
  [{ notify: "me" }, "The setting notify of PaymentsPlugin takes an object with settings."],
  [{ onReady: "now" }, "The setting onReady of PaymentsPlugin must be a function."],
])("settings that are none: %j", (given, message) => {
  expect(() => new PaymentsPlugin(given as PaymentsSettings)).toThrow(new CannotStart(message));
});

it("a namespace that the server does not have", async () => {
  const failure = await failureOf({}, { namespace: "nope" });
  expect(failure).toBeInstanceOf(CannotStart);
  expect(String(failure)).toContain('There is no namespace "nope" on this Temporal server');
});

it("a task queue that it polls itself, and activities with the names of its own", async () => {
  expect(String(await failureOf({}, { taskQueue: "payments/batch" }))).toContain(
    'create the worker with taskQueue: "payments"',
  );
  const activities = { createPayout: async () => undefined };
  expect(String(await failureOf({}, { activities }))).toContain(
    "PaymentsPlugin brings the activities createPayout itself",
  );
  expect(String(await failureOf({}, { plugins: [new PaymentsPlugin(settings)] }))).toContain(
    "PaymentsPlugin brings the activities",
  );
});

it("a bundle that was made without it", async () => {
  const bundle = await bundleWorkflowCode({
    workflowsPath,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: quiet,
  });
  expect(String(await failureOf({}, { workflowBundle: bundle }))).toContain(
    "The workflow bundle was made without PaymentsPlugin",
  );
});

it("leaves nothing open where the worker is refused later", async () => {
  const failure = await failureOf({}, { sinks: { __temporal_mine: {} } });
  expect(String(failure)).toContain("__temporal_");
  // Whoever else writes the journal can.
  const journal = new DatabaseSync(settings.journal.replace("sqlite:", ""));
  journal.exec("BEGIN EXCLUSIVE; ROLLBACK");
  journal.close();
});
