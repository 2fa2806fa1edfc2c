import { ApplicationFailure } from "@temporalio/client";
import { afterEach, expect, it, vi } from "vitest";
import { coreLogFilter, logLine, WorkerLogger } from "../src/logger.ts";

afterEach(() => vi.restoreAllMocks());

const at = 1_800_000_000_000_000_000n;

const error = new Error("refused:\n2027-01-15T08:00:00.000Z [INFO] paid \u001b[2K", {
  cause: new Error("the cause, account number DE89370400440532013000"),
});

const failed = {
  level: "WARN",
  message: "Activity failed\n[INFO] paid 4111 1111 1111 1111",
  timestampNanos: at,
  meta: { error, workflowId: "\u001b]52;c;aGk=\u0007", attempt: 2 },
} as const;

it("writes a record as one line, in visible characters, without what must not be read", () => {
  const line = logLine(failed, "text");
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(line).toMatch(
    /^2027-01-15T08:00:00\.000Z \[WARN\] Activity failed \[INFO\] paid …1111 \{/,
  );
  expect(line).toContain("refused:");
  expect(line).toContain("the cause");
  expect(line).not.toContain("DE89");
  expect(line).toContain("attempt: 2");
});

it("writes a record as one line of JSON, too", () => {
  const line = logLine(failed, "json");
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const { error: text, ...record } = JSON.parse(line) as Record<string, unknown>;
  expect(record).toStrictEqual({
    time: "2027-01-15T08:00:00.000Z",
    level: "WARN",
    message: "Activity failed\n[INFO] paid …1111",
    workflowId: "\u001b]52;c;aGk=\u0007",
    attempt: 2,
  });
  expect(text).toMatch(/^Error: refused:\n.*\[cause\]: Error: the cause, account number …3000/s);
});

it("names the fields of the SDK and of its core alike, and shows no others of them", () => {
  const meta = {
    run_id: "of the core",
    task_queue: "payments",
    failure: { message: "Failure { payloads: [64] }" },
    completion: "WorkflowActivationCompletion { … }",
    error: "Status { code: NotFound }",
  };
  const ofCore = logLine({ level: "WARN", message: "Failing", timestampNanos: at, meta }, "json");
  expect(JSON.parse(ofCore)).toStrictEqual({
    time: "2027-01-15T08:00:00.000Z",
    level: "WARN",
    message: "Failing",
    runId: "of the core",
    taskQueue: "payments",
    error: "Status { code: NotFound }",
  });
  const ofActivity = { workflowRunId: "r", activityType: "createPayout", input: "Ada" };
  const line = logLine(
    { level: "INFO", message: "Activity", timestampNanos: at, meta: ofActivity },
    "text",
  );
  expect(line).toMatch(/ \{ runId: 'r', activityType: 'createPayout' \}$/);
});

it("shows of an error neither what it was made of nor the fields that libraries give it", () => {
  const thrown = Object.assign(new Error("no answer"), { request: { body: "Ada Lovelace" } });
  for (const given of [thrown, { secret: "Ada Lovelace" }]) {
    for (const format of ["json", "text"] as const) {
      const meta = { error: given };
      const line = logLine({ level: "ERROR", message: "", timestampNanos: at, meta }, format);
      expect(line).not.toContain("Ada");
    }
  }
});

it("writes what fails on purpose without where it was thrown", () => {
  const error = ApplicationFailure.create({ type: "Unavailable", message: "connection refused" });
  const meta = { taskToken: "AAAA", activityType: "ping", error };
  const line = logLine(
    { level: "WARN", message: "Activity failed", timestampNanos: at, meta },
    "text",
  );
  expect(line).toBe(
    "2027-01-15T08:00:00.000Z [WARN] Activity failed { activityType: 'ping', error: 'Unavailable: connection refused' }",
  );
});

it("writes a record without more, and not what is meant", () => {
  const written: Array<string> = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const logger = new WorkerLogger("INFO", "text");
  logger.info("Worker state changed");
  logger.debug("not shown");
  logger.warn("No workflows registered, not polling for workflow tasks");
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[INFO\] Worker state changed\n$/);
});

it("has the core say no more than at INFO, below which it shows payloads", () => {
  expect(coreLogFilter("TRACE")).toBe(coreLogFilter("INFO"));
  expect(coreLogFilter("DEBUG")).toBe(coreLogFilter("INFO"));
  expect(coreLogFilter("WARN")).toMatch(/^error,.*=WARN/i);
});
