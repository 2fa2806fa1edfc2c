import { describe, expect, it } from "vitest";
import { readQuery } from "../src/visibility/query.ts";

const run: Readonly<Record<string, string | ReadonlyArray<string>>> = {
  WorkflowId: 'payout/"quoted"',
  ExecutionStatus: "Running",
  StartTime: "2026-11-22T17:00:00.500Z",
  PaymentIds: ["payout:P-1", "key-1"],
};

const finds = (query: string): boolean => readQuery(query)((name) => run[name]);

describe("a query of the look-ups", () => {
  it.each([
    "",
    'ExecutionStatus = "Running"',
    "ExecutionStatus = 'Running'",
    String.raw`WorkflowId = "payout/\"quoted\""`,
    'WorkflowId STARTS_WITH "payout/"',
    'PaymentIds = "key-1"',
    'PaymentIds IN ("key-2", "payout:P-1")',
    "PaymentIds IS NOT NULL AND PaymentAwaits IS NULL",
    'PaymentAwaits != "x"',
    'NOT ExecutionStatus = "Failed" AND (PaymentIds = "x" OR PaymentIds = "key-1")',
    'ExecutionStatus NOT IN ("Failed", "Completed")',
    'StartTime > "2026-11-22T17:00:00Z" AND StartTime <= "2026-11-22T17:00:00.5Z"',
    'StartTime BETWEEN "2026-11-22T16:00:00+00:00" AND "2026-11-22T18:30:00+01:00"',
  ])("%s finds it", (query) => {
    expect(finds(query)).toBe(true);
  });

  it.each([
    'ExecutionStatus = "Failed"',
    'PaymentIds = "key"',
    'PaymentIds != "key-1"',
    'PaymentIds IS NULL OR WorkflowId STARTS_WITH "batch"',
    'StartTime < "2026-11-22T17:00:00Z"',
    'ExecutionStatus = "Running" AND NOT PaymentIds = "key-1"',
  ])("%s does not find it", (query) => {
    expect(finds(query)).toBe(false);
  });

  it.each([
    "ExecutionStatus",
    'ExecutionStatus LIKE "R%"',
    'ExecutionStatus = "Running" GROUP BY WorkflowType',
    'ExecutionStatus IN ("Running"',
    '= "Running"',
    "ExecutionStatus = Running",
    'WorkflowId = "x" ;',
  ])("%s is refused, and not taken for another one", (query) => {
    expect(() => readQuery(query)).toThrow(/cannot read the query .*server: "dev"/);
  });
});
