import { ApplicationFailure } from "@temporalio/client";
import { afterEach, expect, it, vi } from "vitest";
import { logLine, WorkerLogger } from "../src/logger.ts";

afterEach(() => vi.restoreAllMocks());

const at = 1_800_000_000_000_000_000n;

it("writes a record as one line, in visible characters", () => {
  const error = new Error("refused:\n2027-01-15T08:00:00.000Z [INFO] paid \u001b[2K", {
    cause: new Error("the cause"),
  });
  const line = logLine({
    level: "WARN",
    message: "Activity failed\n[INFO] paid",
    timestampNanos: at,
    meta: { error, reference: "\u001b]52;c;aGk=\u0007", nested: { list: ["a", 1] } },
  });
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(line).toMatch(/^2027-01-15T08:00:00\.000Z \[WARN\] Activity failed \[INFO\] paid \{/);
  expect(line).toContain("refused:");
  expect(line).toContain("the cause");
  expect(line).toContain("nested: { list: [ 'a', 1 ] }");
});

it("writes what fails on purpose without where it was thrown", () => {
  const error = ApplicationFailure.create({ type: "Unavailable", message: "connection refused" });
  const meta = { taskToken: "AAAA", activityType: "ping", error };
  const line = logLine({ level: "WARN", message: "Activity failed", timestampNanos: at, meta });
  expect(line).toBe(
    "2027-01-15T08:00:00.000Z [WARN] Activity failed { activityType: 'ping', error: 'Unavailable: connection refused' }",
  );
});

it("writes a record without more, and not what is meant", () => {
  const written: Array<string> = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const logger = new WorkerLogger("INFO");
  logger.info("Worker state changed");
  logger.debug("not shown");
  logger.warn("No workflows registered, not polling for workflow tasks");
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[INFO\] Worker state changed\n$/);
});
