import { RuleTester } from "oxlint/plugins-dev";
import { describe, it } from "vitest";

type Rule = Parameters<RuleTester["run"]>[1];

const script = "../typed-temporal.mjs";
// A script that oxlint loads, without types.
const loaded = (await import(script)) as { default: { rules: Record<string, Rule> } };
const { calls, "open-runs": openRuns } = loaded.default.rules;

RuleTester.describe = describe;
RuleTester.it = it;

const tester = new RuleTester({ languageOptions: { parserOptions: { lang: "ts" } } });
const errors = 1;
/** Apart, so that lint does not find it here. */
const RUNNING = '"Running"';

tester.run("what crosses Temporal has a type", calls!, {
  valid: [
    `client.workflow.start<Workflows["tracker"]>("tracker", options);`,
    `workflow.execute<typeof payOrder>(payOrder, options);`,
    `startPayment<typeof payOrder>(client, "payOrder", options);`,
    `handle.signal(nudgeSignal, {});`,
    `client.query("SELECT 1");`,
    `proxyActivities<PaymentsActivities>(options);`,
    `executeChild(payDeposit, { workflowId, args });`,
  ],
  invalid: [
    { code: `client.workflow.start("tracker", options);`, errors },
    { code: `client.workflow.start(type, options);`, errors },
    { code: `workflow.execute<Workflow>("payout", options);`, errors },
    { code: `client.workflow.signalWithStart("payout", options);`, errors },
    { code: `startPayment(client, "payOrder", options);`, errors },
    { code: `client.workflow.getHandle(id).signal("durable-payments/nudge", {});`, errors },
    { code: `handle.executeUpdate(testNotificationUpdate.name);`, errors },
    { code: `handle.query("state");`, errors },
    { code: `proxyActivities(options);`, errors },
    { code: `executeChild("payDeposit", { workflowId, args });`, errors },
  ],
});

tester.run("whether a run is open has one home", openRuns!, {
  valid: [
    `isOpenStatus(status.name);`,
    `status.name !== "COMPLETED";`,
    `worker.getState() === "RUNNING";`,
    'const query = `${OPEN_RUNS} AND ExecutionStatus IN ("Failed")`;',
  ],
  invalid: [
    { code: `status.name === "RUNNING";`, errors },
    { code: `(await handle.describe()).status.name !== "PAUSED";`, errors },
    { code: `["RUNNING", "PAUSED"].includes(status.name);`, errors },
    { code: `const query = 'ExecutionStatus = ${RUNNING}';`, errors },
    { code: `const query = \`ExecutionStatus IN (${RUNNING}) AND \${rest}\`;`, errors },
  ],
});
