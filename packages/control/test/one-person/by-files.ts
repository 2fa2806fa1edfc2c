import { ADA, type Attempt, GRACE, type Kind } from "./attempt.ts";
import type { Payment } from "./payment.ts";
import { pause, resume } from "../../src/actions/stopping.ts";

// What Ada does with files: rows that Grace has approved are amended, paid again, or sent with another content.

/** What starters wrote into memos once. */
const BY_ADA = { startedBy: ADA.by };

/** A file of one row that Grace has approved, and whose payment has been made. */
const paidFile = async (the: Attempt): Promise<string> => {
  const payment = the.payment();
  const { batch, row } = await the.file([the.input(payment)]);
  await the.graceApprovesFile(batch, [payment]);
  await the.paid();
  await the.ends(row);
  return row;
};

/** A file of one row that Grace has approved; its run was started, holds before it sends, and was terminated. */
const heldRow = async (the: Attempt): Promise<string> => {
  const { operations } = the.stack;
  const payment = the.payment();
  const { batch, row } = await the.file([the.input(payment)]);
  await pause(operations, row, ADA);
  await the.graceApprovesFile(batch, [payment]);
  await the.until("the row has started and holds", async () => {
    const rows = await operations.ledger.rowsOf(row);
    return rows.length > 0 || undefined;
  });
  await the.handle(row).terminate("Ada");
  return row;
};

/** The row of an approved file is sent by a run of her own, with something else in it. */
const sentAs = (name: string, changed: (the: Attempt) => Partial<Payment>): Kind => ({
  name: `sends an approved row as another payment: ${name}`,
  steps: async (the) => {
    const row = await heldRow(the);
    const input = the.input(the.payment(changed(the)));
    await the.startBare(input, row, { workflowIdReusePolicy: "ALLOW_DUPLICATE", memo: BY_ADA });
    await resume(the.stack.operations, row, ADA);
    return the.asksOrFails(row);
  },
});

/** Someone writes into a column of the ledger's tables. */
const bySql = (
  name: string,
  statement: string,
  values: (batch: string, row: string) => ReadonlyArray<string>,
): Kind => ({
  name: `changes a column of a file that waits for its approval: ${name}`,
  steps: async (the) => {
    const { batch, row } = await the.file([the.input(the.payment())]);
    the.stack.sql(statement, ...values(batch, row));
    await the.nudgeFile(batch);
    await the.startBare(the.input(the.payment()), row).catch(() => undefined);
    await the.asksOrFails(row);
    return the.decide(batch, "approve").catch(() => undefined);
  },
});

/** Attempts by files. */
export const BY_FILES: ReadonlyArray<Kind> = [
  {
    name: "approves his own file",
    steps: async (the) => {
      const { batch } = await the.file([the.input(the.payment())]);
      return the.refused(the.decide(batch, "approve"));
    },
  },
  ...["ADA", "\u00E1da", "a d a", "\u0430da", "\u03B1da"].map((name): Kind => ({
    name: `approves his own file as ${JSON.stringify(name)}`,
    steps: async (the) => {
      const { batch } = await the.file([the.input(the.payment())]);
      return the.refused(the.decide(batch, "approve", { ...ADA, by: name }));
    },
  })),
  {
    name: "uploads a file with a limit of its own",
    steps: async (the) => {
      const given = { approveAbove: "99999.00" };
      const { batch } = await the.file([the.input(the.payment())], given);
      return the.refused(the.decide(batch, "approve"));
    },
  },
  {
    name: "uploads rows with limits of their own",
    steps: async (the) => {
      const options = { approval: { above: "99999.00" } };
      const { batch } = await the.file([{ ...the.input(the.payment()), options }]);
      return the.refused(the.decide(batch, "approve"));
    },
  },
  {
    name: "amends an approved row that the service refused",
    steps: async (the) => {
      const payment = the.payment({ to: { ...the.payees.honest, account_currency: "USD" } });
      const { batch, row } = await the.file([the.input(payment, await the.known(payment.to))]);
      await the.graceApprovesFile(batch, [payment]);
      await the.starts(row);
      await the.fails(row);
      await the.retry(row, { patch: { beneficiary_id: await the.known(the.payees.mallory) } });
      return the.asks(row);
    },
  },
  ...(["again", "createPayout"] as const).map((step): Kind => ({
    name: `pays an approved row once more under its id, by the step ${step}`,
    steps: async (the) => {
      const row = await paidFile(the);
      // The same step returns what it has made before.
      await the.call("createPayout", await the.write(the.payment(), { step, rootId: row }), row);
    },
  })),
  {
    name: "pays an approved row once more by naming its id as root",
    steps: async (the) => {
      const row = await paidFile(the);
      const write = await the.write(the.payment(), { rootId: row });
      await the.calls("createPayout", write);
    },
  },
  sentAs("another date", () => ({ date: "2026-12-24" })),
  sentAs("another reference", (the) => ({ reference: `${the.id} Another` })),
  sentAs("another bank", (the) => ({ to: { ...the.payees.numbered, swift_code: "MALLUS33" } })),
  sentAs("an account number beside the IBAN", (the) => ({
    to: { ...the.payees.honest, account_number: the.payees.otherNumber },
  })),
  sentAs("another payee", (the) => ({ to: the.payees.mallory })),
  sentAs("another amount", () => ({ amount: "901.00" })),
  {
    name: "pays a row of a file that was cancelled after its approval",
    steps: async (the) => {
      const { operations } = the.stack;
      const { batch, row } = await the.file([the.input(the.payment())]);
      await pause(operations, batch, ADA);
      await the.graceApprovesFile(batch, []);
      await the.decide(batch, "cancel", GRACE);
      await resume(operations, batch, ADA);
      await the.startBare(the.input(the.payment()), row);
      return the.asksOrFails(row);
    },
  },
  {
    name: "pays a row of a file that was rejected",
    steps: async (the) => {
      const { batch, row } = await the.file([the.input(the.payment())]);
      await the.decide(batch, "reject", GRACE);
      await the.startBare(the.input(the.payment()), row);
      await the.asksOrFails(row);
    },
  },
  {
    name: "starts a row before the approval of its file",
    steps: async (the) => {
      const { row } = await the.file([the.input(the.payment())]);
      await the.startBare(the.input(the.payment()), row);
      return the.asksOrFails(row);
    },
  },
  {
    name: "completes startRows by hand",
    steps: async (the) => {
      const { batch, row } = await the.file([the.input(the.payment())]);
      const chunk = await the.startChunk(batch, row);
      await the.completes(chunk, "startRows", { is: "done", succeeded: 1, failed: 0, rejected: 0 });
      await the.handle(chunk).result();
      return the.refused(the.decide(batch, "approve"));
    },
  },
  {
    name: "starts the rows of a file by a chunk of his own, with another payee",
    steps: async (the) => {
      const payment = the.payment();
      const { batch, row } = await the.file([the.input(payment)]);
      await pause(the.stack.operations, row, ADA);
      await the.graceApprovesFile(batch, [payment]);
      await the.call("startRows", {
        batch,
        startedBy: "linus",
        window: 9,
        rows: [{ number: 1, workflowId: row, input: the.input(the.toMallory) }],
      });
      await resume(the.stack.operations, row, ADA);
      return the.until("it asks, has failed or is paid", async () => {
        if ((await the.payouts()).length > 0 || (await the.asking(row))) return true;
        return (await the.isOpen(row)) ? undefined : true;
      });
    },
  },
  bySql("batches.state", "UPDATE batches SET state = 'approved' WHERE id = ?", (batch) => [batch]),
  bySql("batch_rows.state", "UPDATE batch_rows SET state = 'started' WHERE batch = ?", (batch) => [
    batch,
  ]),
  bySql(
    "batch_rows.workflow_id",
    "UPDATE batch_rows SET workflow_id = 'payout/other' WHERE batch = ?",
    (batch) => [batch],
  ),
  bySql("batch_rows.amount", "UPDATE batch_rows SET amount = '1.00' WHERE batch = ?", (batch) => [
    batch,
  ]),
  bySql("batches.created_by", "UPDATE batches SET created_by = 'linus' WHERE id = ?", (batch) => [
    batch,
  ]),
  bySql(
    "runs.started_by",
    "UPDATE runs SET started_by = 'linus' WHERE workflow_id = ?",
    (_, row) => [row],
  ),
  bySql("runs.batch", "UPDATE runs SET batch = NULL WHERE workflow_id = ?", (_, row) => [row]),
  {
    name: "changes a column of an approved row: batch_rows.payee",
    steps: async (the) => {
      const row = await heldRow(the);
      const id = await the.known(the.payees.mallory);
      the.stack.sql("UPDATE batch_rows SET payee = ? WHERE workflow_id = ?", id, row);
      const input = the.input(the.toMallory, id);
      await the.startBare(input, row, { workflowIdReusePolicy: "ALLOW_DUPLICATE" });
      await resume(the.stack.operations, row, ADA);
      return the.asksOrFails(row);
    },
  },
  {
    name: "changes a column of a run that waits for an approval: runs.started_by",
    steps: async (the) => {
      await the.start(the.input(the.payment()));
      await the.asks(the.id);
      const statement = "UPDATE runs SET started_by = 'linus' WHERE workflow_id = ?";
      the.stack.sql(statement, the.id);
      await the.cannotApprove(the.id);
    },
  },
  {
    name: "changes a column of the write that waits: writes.amount",
    steps: async (the) => {
      await the.start(the.input(the.payment()));
      await the.asks(the.id);
      the.stack.sql("UPDATE writes SET amount = '1.00' WHERE workflow_id = ?", the.id);
      await the.retry(the.id);
      return the.asks(the.id);
    },
  },
];
