import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

// A workflow, a signal or an activity that is named by a text takes any values, in any order, and the compiler compares
// them with nothing: see packages/protocol/src/workflows.ts. These calls are refused in sources, tests and documents.

interface Rule {
  readonly pattern: RegExp;
  /** Calls that it must find: each is a fault. */
  readonly faults: ReadonlyArray<string>;
}

const RULES: Readonly<Record<string, Rule>> = {
  'start a workflow by its type: workflow.start<Workflows["payout"]>(…), or <typeof ownWorkflow>': {
    pattern:
      /\bworkflow\s*\.\s*(?:start|execute|signalWithStart|(?:start|execute)UpdateWithStart)(?:<Workflow>)?\(/,
    faults: [
      "client.workflow.start(type, options)",
      "client.workflow\n  .execute(payOrder, options)",
      "workflow.signalWithStart<Workflow>(type, options)",
    ],
  },
  "start a payment by the type of its workflow: startPayment<typeof ownWorkflow>(…)": {
    pattern: /\bstartPayment\(\s*[\w.]+,\s*["'`]/,
    faults: ['startPayment(client, "payOrder", options)'],
  },
  "start a child by its function, or its type": {
    pattern: /\b(?:start|execute)Child\(\s*["'`][\w-]+["'`],\s*\{/,
    faults: ['executeChild("payDeposit", { workflowId, args })'],
  },
  "send a signal, query or update by its definition, such as nudgeSignal": {
    pattern:
      /(?:\bhandle|getHandle\([^)]*\))\s*\.\s*(?:signal|query|(?:start|execute)Update)\(\s*(?:["'`]|\w+\.name\b)/i,
    faults: [
      'client.workflow.getHandle(id).signal("durable-payments/nudge", {})',
      "handle.executeUpdate(testNotificationUpdate.name)",
    ],
  },
  "call activities by their type: proxyActivities<PaymentsActivities>(…)": {
    pattern: /\bproxy(?:Local)?Activities\(/,
    faults: ["proxyActivities(options)"],
  },
  "list runs by listedRuns of @durable-payments/protocol: a memo that cannot be decoded ends the SDK's list":
    {
      pattern: /\bworkflow\s*\.\s*list\(/,
      faults: ["for await (const run of client.workflow.list({ query }))"],
    },
  "whether a run is open is decided by isOpenStatus and OPEN_RUNS of @durable-payments/protocol": {
    pattern:
      /\bstatus\.name\s*[!=]==\s*"(?:RUNNING|PAUSED|CONTINUED_AS_NEW)"|\.includes\(status\.name\)|ExecutionStatus (?:=|IN) \(?["']Running/,
    faults: [
      '(await handle.describe()).status.name !== "RUNNING"',
      '["RUNNING", "PAUSED"].includes(status.name)',
      'list({ query: `ExecutionStatus = "Running" AND ${rest}` })',
    ],
  },
};

const OWN = "tools/test/typed-temporal.test.ts";

it.each(Object.entries(RULES))("%s", (_, { faults, pattern }) => {
  expect(faults.filter((fault) => !pattern.test(fault))).toEqual([]);
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.ts", "*.md"], {
    cwd: checkout,
    encoding: "utf8",
  }).split("\n");
  expect(files.length).toBeGreaterThan(300);
  const found = files.filter(
    (file) =>
      ![OWN, ""].includes(file) &&
      existsSync(join(checkout, file)) &&
      pattern.test(readFileSync(join(checkout, file), "utf8")),
  );
  expect(found).toEqual([]);
});
