import { runApp } from "@durable-payments/tools/testing";
import { describe, expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig, settingsFile } from "./support/rig.ts";

// Each test is a process or two: a busy machine takes its time.

const PASSWORD = "password-that-nobody-may-see";

const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

const { folder, simulator, startPayout, startWorker, variables } = await makeRig();

it("--help says what it does and what it needs", async () => {
  const { exitCode, stderr, stdout } = await runApp("worker", ["--help"]);
  expect(exitCode).toBe(0);
  expect(stderr).toBe("");
  for (const named of [
    "durable-payments worker",
    "--json",
    "PAYMENTS_BASE_URL",
    "TEMPORAL_ADDRESS",
  ]) {
    expect(stdout).toContain(named);
  }
  expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
});

describe("where it cannot start it says why in one line, and ends with", () => {
  it.each([
    ["2 for an unknown option", ["--jsno"], {}, /Unknown option '--jsno'.*\(--help\)/, 2],
    ["1 without the service", [], { PAYMENTS_BASE_URL: undefined }, /PAYMENTS_BASE_URL/, 1],
    [
      "1 for a log level that is none",
      [],
      { PAYMENTS_LOG_LEVEL: "loud" },
      /PAYMENTS_LOG_LEVEL must be one of "TRACE", "DEBUG", "INFO", "WARN", "ERROR"\./,
      1,
    ],
    [
      "1 for a log format that is none",
      [],
      { PAYMENTS_LOG_FORMAT: "xml" },
      /PAYMENTS_LOG_FORMAT must be one of "json", "text"\./,
      1,
    ],
    [
      "1 for a collector of traces that is none",
      [],
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" },
      /OTEL_EXPORTER_OTLP_ENDPOINT must be the http or https address of a collector\./,
      1,
    ],
    [
      "1 for a rate that is none",
      [],
      settingsFile(folder.path, { activitiesPerSecond: 0 }),
      /activitiesPerSecond in the settings file \(PAYMENTS_SETTINGS\) must be a number above 0/,
      1,
    ],
    [
      "1 for limits of approvals that are none",
      [],
      { PAYMENTS_APPROVE_ABOVE: "1000" },
      /PAYMENTS_APPROVE_ABOVE must be an object of decimal strings by currency/,
      1,
    ],
    [
      "1 for a build of no deployment",
      [],
      { PAYMENTS_BUILD_ID: "7" },
      /PAYMENTS_DEPLOYMENT_NAME and PAYMENTS_BUILD_ID belong together: set both, or neither\./,
      1,
    ],
    [
      "1 for a deployment that Temporal would refuse",
      [],
      { PAYMENTS_DEPLOYMENT_NAME: "payments.eu", PAYMENTS_BUILD_ID: "7" },
      /PAYMENTS_DEPLOYMENT_NAME must have at most 100 characters, without spaces, dots or colons/,
      1,
    ],
    [
      "1 for a ledger that is none of the known ones, without repeating it",
      [],
      { PAYMENTS_LEDGER: `mysql://${PASSWORD}@host` },
      /PAYMENTS_LEDGER must be sqlite:FILE/,
      1,
    ],
    [
      "1 for a ledger's file that cannot be made",
      [],
      { PAYMENTS_LEDGER: "sqlite:/dev/null/ledger.sqlite" },
      /\/dev\/null\/ledger\.sqlite/,
      1,
    ],
    [
      "1 for a ledger's database that cannot be reached, without its password",
      [],
      { PAYMENTS_LEDGER: `postgres://user:${PASSWORD}@127.0.0.1:1/payments` },
      /127\.0\.0\.1:1/,
      1,
    ],
    [
      "1 for notifications to an address with credentials, without repeating them",
      [],
      { PAYMENTS_NOTIFY_URL: `https://ada:${PASSWORD}@alerts.example` },
      /PAYMENTS_NOTIFY_URL \(notify\.url\) must not contain a user name or password/,
      1,
    ],
    [
      "1 for a secret of notifications that is none, without repeating it",
      [],
      { PAYMENTS_NOTIFY_URL: "https://alerts.example", PAYMENTS_NOTIFY_SECRET: PASSWORD },
      /PAYMENTS_NOTIFY_SECRET \(notify\.secret\) must be whsec_ and 24 to 64 bytes in base64/,
      1,
    ],
    [
      "1 where no Temporal answers",
      [],
      { TEMPORAL_ADDRESS: "127.0.0.1:1" },
      /Cannot connect to Temporal at 127\.0\.0\.1:1 \(TEMPORAL_ADDRESS\): nothing listens there/,
      1,
    ],
    [
      "1 for an address with a scheme",
      [],
      { TEMPORAL_ADDRESS: "http://127.0.0.1:1" },
      /TEMPORAL_ADDRESS must be a host and a port.*such as 127\.0\.0\.1:1/,
      1,
    ],
    [
      "1 for a namespace that is none",
      [],
      { TEMPORAL_NAMESPACE: "nowhere" },
      /has no namespace "nowhere".*\(TEMPORAL_NAMESPACE\)/,
      1,
    ],
    [
      "1 for a configuration file that is none, instead of a Temporal that nobody named",
      [],
      { TEMPORAL_CONFIG_FILE: "/nowhere/temporal.toml" },
      /TEMPORAL_CONFIG_FILE must be the path of a file that exists and can be read/,
      1,
    ],
  ])("%s", async (_, args, changes, message, code) => {
    const { exitCode, stderr, stdout } = await runApp("worker", args, variables(changes));
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toMatch(/^worker: /);
    expect(stdout).toBe("");
    expect(exitCode).toBe(code);
    expect(stderr).not.toContain(simulator.apiKey);
    expect(stderr).not.toContain(PASSWORD);
  });
});

it("says in the form of its log why it cannot start", async () => {
  const settings = { PAYMENTS_LOG_FORMAT: "json", TEMPORAL_ADDRESS: "127.0.0.1:1" };
  const { exitCode, stderr } = await runApp("worker", [], variables(settings));
  const { message, ...record } = JSON.parse(stderr) as Readonly<Record<string, unknown>>;
  expect(record).toStrictEqual({ time: TIME, level: "ERROR" });
  expect(message).toMatch(/^worker: Cannot connect to Temporal at 127\.0\.0\.1:1/);
  expect(exitCode).toBe(1);
});

it("ends if it cannot start although it was created, instead of staying without a worker", async () => {
  const settings = { PAYMENTS_HEALTH_ADDRESS: new URL(simulator.url).host };
  const { exitCode, stderr } = await runApp("worker", [], variables(settings));
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^worker: .* cannot listen at 127\.0\.0\.1:/);
  expect(exitCode).toBe(1);
});

it("says in one line of JSON that it polls, and ends with 0 when it is stopped", async () => {
  const worker = await startWorker({ PAYMENTS_TASK_QUEUE: "mine" });
  const { ledger, ...polling } = worker.ready;
  expect(polling).toEqual({ ready: true, namespace: "default", taskQueue: "mine" });
  expect(ledger).toMatch(/\.sqlite/);
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  expect(worker.stdout().trimEnd().split("\n")).toHaveLength(1);
  expect(worker.stderr()).toBe("");
});

it("finishes what it has begun when it is stopped: no payment is left without its answer", async () => {
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 1_500 });
  const worker = await startWorker({ PAYMENTS_LOG_FORMAT: "json", PAYMENTS_LOG_LEVEL: "DEBUG" });
  const handle = await startPayout("drained");
  const requests = async () => (await simulator.state()).requests["createPayout"] ?? 0;
  await vi.waitFor(async () => expect(await requests()).toBe(1), { timeout: 20_000 });
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });

  const { events = [] } = await handle.fetchHistory();
  const scheduled = events?.find(
    ({ activityTaskScheduledEventAttributes: about }) =>
      about?.activityType?.name === "createPayout",
  );
  const completed = events?.filter(({ activityTaskCompletedEventAttributes: about }) =>
    about?.scheduledEventId?.eq(scheduled?.eventId ?? 0),
  );
  expect(completed).toHaveLength(1);
  expect(await requests()).toBe(1);
  await handle.terminate();

  // What it has logged: by the SDK and its core, each line JSON, with the run and without its values.
  const logged = worker.stderr().trimEnd().split("\n");
  const records = logged.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  for (const record of records) {
    expect(record).toMatchObject({ time: TIME });
    expect(record["level"]).toMatch(/^(?:DEBUG|INFO|WARN|ERROR)$/);
    expect(record["message"]).toMatch(/./);
  }
  expect(records).toContainEqual(
    expect.objectContaining({ message: "Initializing worker", taskQueue: "payments" }),
  );
  expect(records).toContainEqual(
    expect.objectContaining({
      message: "Activity completed",
      workflowType: "payout",
      workflowId: "drained",
      runId: handle.firstExecutionRunId,
      activityType: "createPayout",
      attempt: 1,
    }),
  );
  // Shorter ones, such as a country, may be part of any word.
  const texts = JSON.stringify(payoutInput).match(/(?<=:")[^"]{6,}/g) ?? [];
  expect(texts).toContain("DE89370400440532013000");
  for (const text of texts) expect(worker.stderr()).not.toContain(text);
  expect(worker.stderr()).not.toContain(simulator.apiKey);
});
