import { nudgeSignal } from "@durable-payments/protocol/calls";
import type { SignalDefinition } from "@temporalio/common";
import { startPayment } from "../../src/actions/start.ts";
import type { Workflows } from "@durable-payments/protocol";
import { ADA, type Attempt, type Kind } from "./attempt.ts";
import { pause, resume } from "../../src/actions/stopping.ts";
import type { payByChild } from "./own-workflows.ts";
import { OWN_QUEUE } from "./stack.ts";
import { resetToBegin } from "../support/reset.ts";

// What Ada does with Temporal's own client, and with workflows of her own, which call the activities of payments with
// inputs of her own.

/** The nudge with whatever a client can write. */
const forgedNudge = { ...nudgeSignal } as SignalDefinition<[unknown?]>;

/** A payment that Grace has approved and that has been made. */
const approvedAndPaid = async (the: Attempt): Promise<string> => {
  const payment = the.payment();
  await the.start(the.input(payment));
  await the.graceApproves(the.id, payment);
  await the.handle(the.id).result();
  return the.id;
};

/** A payment that Grace has approved and that is paused before it is sent. */
const approvedAndHeld = async (the: Attempt): Promise<string> => {
  const payment = the.payment();
  await the.start(the.input(payment, await the.known(payment.to)));
  await the.asks(the.id);
  await pause(the.stack.operations, the.id, ADA);
  await the.graceApproves(the.id, payment);
  return the.id;
};

const forget = async (the: Attempt, id: string): Promise<void> => {
  const { client, namespace } = the.stack.operations;
  await client.workflowService.deleteWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: id },
  });
  await the.until(`${id} is forgotten`, async () => !(await the.exists(id)) || undefined);
};

/** A forged signal neither pays nor blocks: after it, Grace's approval pays. */
const signalling = (how: string, content: unknown): Kind => ({
  name: `a forged signal: ${how}`,
  steps: async (the) => {
    const payment = the.payment();
    await the.start(the.input(payment));
    await the.asks(the.id);
    await the.handle(the.id).signal(forgedNudge, content);
    await the.graceApproves(the.id, payment);
    await the.paid();
  },
});

/** A call of the activity by a workflow of her own. */
const calling = (name: string, forged: (the: Attempt) => Promise<object> | object): Kind => ({
  name: `calls the activity: ${name}`,
  steps: async (the) => {
    const payment = the.toMallory;
    await the.calls("createPayout", await the.write(payment, await forged(the)));
  },
});

const garbage = (name: string, input: unknown): Kind => ({
  name: `calls the activity with garbage: ${name}`,
  steps: (the) => the.calls("createPayout", input),
});

/** Attempts by Temporal's client. */
export const BY_TEMPORAL: ReadonlyArray<Kind> = [
  // Temporal takes half a minute to forget a run.
  {
    name: "starts an id that Temporal has forgotten with another payee, by Temporal's client",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      await forget(the, id);
      await the.startBare(the.input(the.toMallory), id);
      return the.asksOrFails(id);
    },
  },
  {
    name: "starts an id that Temporal has forgotten with another payee, by the command",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      await forget(the, id);
      return the.refused(the.start(the.input(the.toMallory), id));
    },
  },
  {
    name: "forges the starter in the memo",
    steps: async (the) => {
      await the.startBare(the.input(the.payment()), the.id, { memo: { startedBy: "linus" } });
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "starts without a starter",
    steps: async (the) => the.cannotApprove(await the.startBare(the.input(the.payment()))),
  },
  {
    name: "names another starter to startPayment without a ledger",
    steps: async (the) => {
      const { client } = the.stack.operations;
      await startPayment<Workflows["payout"]>(client, "payout", {
        key: the.id,
        startedBy: "linus",
        args: [the.input(the.payment())],
      });
      await the.cannotApprove(`payout/${the.id}`);
    },
  },
  {
    name: "starts an id by Temporal's client before a dispatcher starts another payment under it",
    steps: async (the) => {
      await the.startSalaryBare(await the.salary(the.toMallory));
      await the.tooLate(the.startSalary(await the.salary(the.payment()), "payroll robot"));
      await the.cannotApprove(the.salaryId);
    },
  },
  {
    name: "starts an id without a ledger before a dispatcher starts another payment under it",
    steps: async (the) => {
      await the.startSalary(await the.salary(the.toMallory), "ada", false);
      await the.tooLate(the.startSalary(await the.salary(the.payment()), "payroll robot"));
      await the.cannotApprove(the.salaryId);
    },
  },
  {
    name: "starts the id of a dispatcher again, with another payment",
    steps: async (the) => {
      await the.startSalary(await the.salary(the.payment()), "payroll robot");
      const key = `${the.id}-other`;
      await the.startSalaryBare(await the.salary(the.toMallory, 0, key));
      await the.until("the other key asks", () => the.asking(`payout/${key}`));
      await the.refused(the.approves(`payout/${key}`));
    },
  },
  {
    name: "starts the id of a dispatcher again, as another workflow with the same input",
    steps: async (the) => {
      const salary = await the.salary(the.payment());
      await the.startSalary(salary, "payroll robot");
      const asked = await the.asks(the.salaryId);
      await the.startSalaryBare(salary, "payBonus");
      await the.asksAgain(the.salaryId, asked);
      await the.cannotApprove(the.salaryId);
    },
  },
  {
    name: "starts the id of a dispatcher again, whose child then makes another payment",
    steps: async (the) => {
      await the.startParent(the.input(the.payment()), "payroll robot");
      await the.restartParent(the.input(the.toMallory));
      const child = `payByChild/${the.id}/other`;
      await the.starts(child);
      await the.cannotApprove(child);
    },
  },
  {
    name: "approves what another person has amended, and she has started by Temporal's client",
    steps: async (the) => {
      await the.startBare(the.input(the.payment({ amount: "50.00" }), await the.refusing()));
      await the.fails(the.id);
      const beneficiary_id = await the.known(the.payees.mallory);
      const patch = { beneficiary_id, payout: { amount: "900.00" } };
      await the.retry(the.id, { by: "linus", patch });
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "starts the id of a dispatcher again, and retries that with another payment",
    steps: async (the) => {
      await the.startSalary(await the.salary(the.payment(), 0, ""), "payroll robot");
      await the.asks(the.salaryId);
      const [request, ...others] = await the.salary(the.payment({ amount: "50.00" }), 0, "");
      await the.startSalaryBare([{ ...request, beneficiary_id: await the.refusing() }, ...others]);
      await the.fails(the.salaryId);
      const beneficiary_id = await the.known(the.payees.mallory);
      await the.retry(the.salaryId, {
        by: "linus",
        patch: { beneficiary_id, amount: "900.00" },
      });
      await the.cannotApprove(the.salaryId);
    },
  },
  {
    name: "starts the id of an amended payment again, with another payee",
    steps: async (the) => {
      const first = the.input(the.payment({ amount: "50.00" }), await the.refusing());
      await the.start(first, the.id, "payroll robot");
      await the.fails(the.id);
      const beneficiary_id = await the.known(the.payment().to);
      const patch = { beneficiary_id, payout: { amount: "900.00" } };
      await the.retry(the.id, { by: "linus", patch });
      await the.asks(the.id);
      await the.handle(the.id).terminate("Ada");
      await the.startBare(the.input(the.toMallory), the.id);
      return the.fails(the.id);
    },
  },
  calling("with another starter", () => ({ startedBy: "linus" })),
  calling("with a limit of its own", () => ({ approveAbove: "99999.00" })),
  calling("in mode close", () => ({ mode: "close" })),
  calling("as the step of a child", () => ({ step: "x:createPayout" })),
  calling("with a version of its own", () => ({ version: 0 })),
  calling("with the root of an approved payment", async (the) => ({
    rootId: await approvedAndHeld(the),
  })),
  calling("with the root and the step of a payment that was made", async (the) => ({
    rootId: await approvedAndPaid(the),
    step: "again",
  })),
  garbage("nothing", undefined),
  garbage("null", null),
  garbage("a text", "pay"),
  garbage("a list", [[]]),
  garbage("a call without a request", { step: "createPayout", rootId: "x", call: 1 }),
  garbage("a call of numbers", { step: 5, rootId: 7, runId: 9, call: "1", request: 3 }),
  garbage("a request of lists", { step: "s", rootId: "r", call: 1, request: { amount: [["9"]] } }),
  {
    name: "approves what a workflow of his own sends",
    steps: async (the) => {
      const id = `${the.id}/mine`;
      await the.calls("createPayout", await the.write(the.payment(), { rootId: id }), id);
      await the.refused(the.approves(id));
    },
  },
  {
    name: "takes the id of an approved payment for a workflow of his own",
    steps: async (the) => {
      const id = await approvedAndHeld(the);
      await the.handle(id).terminate("Ada");
      await resume(the.stack.operations, id, ADA);
      const write = await the.write(the.toMallory);
      await the.calls("createPayout", write, id);
    },
  },
  {
    name: "pays another step under the id of a payment that was approved and made",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      const write = await the.write(the.payment(), { step: "again" });
      await the.calls("createPayout", write, id);
    },
  },
  {
    name: "starts a child under the id of a payment that was approved",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      const child = `${id}/child`;
      await the.stack.operations.client.workflow.start<typeof payByChild>("payByChild", {
        workflowId: id,
        taskQueue: OWN_QUEUE,
        args: [child, the.input(the.toMallory)],
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
      });
      await the.starts(child);
      return the.asksOrFails(child);
    },
  },
  {
    name: "resets a payment that was approved and made to before its steps",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      await resetToBegin(the.stack.operations, id);
      await the.handle(id).result();
    },
  },
  {
    name: "resets a payment that waits for an approval",
    steps: async (the) => {
      await the.start(the.input(the.payment()));
      await the.asks(the.id);
      await resetToBegin(the.stack.operations, the.id);
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "terminates an approved payment and starts its id with another payee",
    steps: async (the) => {
      const id = await approvedAndHeld(the);
      await the.handle(id).terminate("Ada");
      await the.startBare(the.input(the.toMallory), id, {
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
      });
      await resume(the.stack.operations, id, ADA);
      return the.asksOrFails(id);
    },
  },
  {
    name: "starts the id of a payment that was made with another payee",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      await the.startBare(the.input(the.toMallory), id, {
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
      });
      return the.asksOrFails(id);
    },
  },
  {
    name: "starts the id of a payment that was made once more",
    steps: async (the) => {
      const id = await approvedAndPaid(the);
      const input = the.input(the.payment());
      await the.startBare(input, id, { workflowIdReusePolicy: "ALLOW_DUPLICATE" });
      await the.handle(id).result();
    },
  },
  {
    name: "completes createPayout by hand",
    steps: async (the) => {
      const { client } = the.stack.operations;
      // On a queue that no worker of payments serves, the activity waits for her.
      await client.workflow.start<Workflows["payout"]>("payout", {
        workflowId: the.id,
        taskQueue: OWN_QUEUE,
        args: [the.input(the.payment(), await the.known(the.payees.mallory))],
      });
      await the.completes(the.id, "createPayout", { is: "done", made: { payout_id: "forged" } });
      await the.completes(the.id, "awaitPayout", {
        payout_id: "forged",
        outcome: "completed",
        payout_status: "completed",
      });
      await the.handle(the.id).result();
    },
  },
  {
    name: "completes the wait for a payout that failed by hand, then pays again under its id",
    steps: async (the) => {
      const payment = the.payment({ reference: `FAIL ${the.id}` });
      await the.start(the.input(payment));
      await the.graceApproves(the.id, payment);
      await the.completes(the.id, "awaitPayout", (activityId) => ({
        payout_id: activityId.replace("awaitPayout:", ""),
        outcome: "completed",
        payout_status: "completed",
        amount: payment.amount,
        currency: payment.currency,
      }));
      await the.ends(the.id);
      const write = await the.write(payment, { step: "again" });
      await the.calls("createPayout", write, the.id);
    },
  },
  signalling("no content", undefined),
  signalling("null", null),
  signalling("steps that are a number", { steps: 5 }),
  signalling("steps that are a text", { steps: "createPayout" }),
  signalling("steps that are objects", { steps: [{ approved: true }] }),
  signalling("an approval", { kind: "approve", by: "grace", steps: [null] }),
  {
    name: "nudges what waits for an approval",
    steps: async (the) => {
      await the.start(the.input(the.payment()));
      await the.asks(the.id);
      await the.handle(the.id).signal(nudgeSignal, {});
      await the.cannotApprove(the.id);
    },
  },
];
