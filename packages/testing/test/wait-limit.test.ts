import { usePaymentsTest } from "../src/vitest.ts";
import { expect, it } from "vitest";
import {
  callFailing,
  paySupplier,
  throwType,
  waitForChild,
  waitForNothing,
} from "./support/workflows.ts";

const failing = async (): Promise<void> => {
  throw new Error("the ledger is locked");
};

const payments = usePaymentsTest({
  workflowsPath: import.meta.resolve("./support/workflows.ts"),
  activities: { failing },
  approveAbove: { USD: "1000.00" },
  waitLimitMs: 30_000,
});

it("a wait that lasts too long says where the run stands, and what it waits for", async () => {
  await payments.temperament({ oddRows: 1, oddRowForm: "no-id" });
  await payments.fault("dropped", { operation: "createPayout" });
  const asking = await payments.start(paySupplier, ["12.50"]);
  await asking.untilAsked();
  const large = await payments.start(paySupplier, ["5000.00"]);
  await large.untilStage("awaitApproval");
  const others = [
    await payments.start(waitForNothing, [], { workflowId: "still" }),
    large,
    await payments.start(callFailing, []),
    await payments.start(throwType, []),
  ];
  const whyNot = (run: (typeof others)[number]) =>
    run.result().then(String, (error: unknown) => String(error));
  const [asked, still, approval, activity, code] = await Promise.all(
    [asking, ...others].map(whyNot),
  );
  expect(asked).toMatch(/asks a person: .* Answer by run\.resolve\(\), with .*resend/);
  expect(still).toMatch(
    /The run still did not end within the limit\. It is at the step standStill.*limit is 30 s: waitLimitMs/,
  );
  expect(approval).toContain(
    "at the step awaitApproval, and waits for the approval of a second person: run.approve() or run.reject().",
  );
  expect(activity).toMatch(
    /The activity failing is in its attempt \d+, after: the ledger is locked/,
  );
  expect(code).toMatch(/Its code throws.*Cannot read properties of undefined/);
});

it("a wait for a child says which one, and where that stands", async () => {
  const run = await payments.start(waitForChild, []);
  await expect(run.result()).rejects.toThrow(
    /at the step awaitChild.* It waits for the child the-child \(waitForNothing\): It is at the step standStill/,
  );
});

it("the test after one that has left runs open skips time all the same", async () => {
  const run = await payments.start(paySupplier, ["12.50"]);
  expect(await run.result()).toBe("completed");
  await expect(run.approve("Bob")).rejects.toThrow(
    /has ended \(COMPLETED\), and did not ask for an approval/,
  );
});
