import { listedRuns, queryText } from "@durable-payments/protocol";
import type { Attempt, Kind } from "./attempt.ts";

// What Ada does with business keys and Schedules: a key is one payment, whichever workflow asks and however often.

/** A payment that Grace has approved and that was made; its id is that of the key which equals the attempt's id. */
const paidByKey = async (the: Attempt): Promise<string> => {
  const payment = the.payment();
  const id = await the.start(the.input(payment), `payout/${the.id}`);
  await the.graceApproves(id, payment);
  await the.handle(id).result();
  return the.id;
};

/** Creates a Schedule of payouts; returns its id. It fires only by hand. */
const schedule = async (the: Attempt, input: object, name = ""): Promise<string> => {
  const scheduleId = `${the.id}/schedule${name}`;
  await the.stack.operations.client.schedule.create({
    scheduleId,
    spec: { intervals: [{ every: "1 minute" }] },
    state: { paused: true },
    action: {
      type: "startWorkflow",
      workflowType: "payout",
      workflowId: scheduleId,
      taskQueue: "payments",
      args: [input],
    },
    policies: { overlap: "ALLOW_ALL" },
  });
  return scheduleId;
};

/** Waits until a Schedule has started so many runs; returns their ids. */
const runsOf = (the: Attempt, scheduleId: string, count: number): Promise<ReadonlyArray<string>> =>
  the.until(`${scheduleId} has fired`, async () => {
    const query = `TemporalScheduledById = ${queryText(scheduleId)}`;
    const ids: Array<string> = [];
    for await (const { execution } of listedRuns(the.stack.operations.client, query))
      ids.push(execution?.workflowId ?? "");
    return ids.length >= count ? ids : undefined;
  });

/** Fires a Schedule by hand, and so many times more by a backfill; returns the ids of its runs. */
const fire = async (the: Attempt, scheduleId: string, backfilled = 0) => {
  const handle = the.stack.operations.client.schedule.getHandle(scheduleId);
  await handle.trigger();
  // First, because Temporal may drop the run by hand if a backfill comes at once.
  const byHand = await runsOf(the, scheduleId, 1);
  if (backfilled === 0) return byHand;
  // Ends a minute ago, so that no run has the time of the one by hand in its id.
  const end = Date.now() - 60_000;
  const start = new Date(end - backfilled * 60_000);
  await handle.backfill({ start, end: new Date(end), overlap: "ALLOW_ALL" });
  return runsOf(the, scheduleId, backfilled + 1);
};

/** Waits until the code of a run is refused: its workflow task fails. */
const failsTask = (the: Attempt, id: string) =>
  the.until(`a workflow task of ${id} has failed`, async () => {
    const { events } = await the.handle(id).fetchHistory();
    return events?.find((event) => event.workflowTaskFailedEventAttributes);
  });

/** Grace's payment of a key is asked for once more, with something else in it. */
const reusing = (name: string, changed: (the: Attempt) => object): Kind => ({
  name: `uses a key again with ${name}`,
  steps: async (the) => {
    const key = await paidByKey(the);
    const write = await the.write({ ...the.payment(), ...changed(the) }, { key });
    return the.calls("createPayout", write);
  },
});

/** Attempts by keys and Schedules. */
export const BY_SCHEDULES: ReadonlyArray<Kind> = [
  reusing("another amount", () => ({ amount: "901.00" })),
  reusing("another payee", (the) => ({ to: the.payees.mallory })),
  reusing("another reference", (the) => ({ reference: `${the.id} Another` })),
  {
    name: "uses a key in another spelling",
    steps: async (the) => {
      const key = await paidByKey(the);
      const others = [`${key} `, `./${key}`, key.toUpperCase(), `${key}\u200B`, ""];
      const write = await the.write(the.payment());
      await Promise.all(others.map((other) => the.call("createPayout", { ...write, key: other })));
    },
  },
  {
    name: "pays by a Schedule without a key",
    steps: async (the) => {
      const [id = ""] = await fire(the, await schedule(the, the.input(the.payment())));
      await failsTask(the, id);
      await the.handle(id).terminate("seen");
    },
  },
  {
    name: "pays by a Schedule with a key, and approves that",
    steps: async (the) => {
      const input = { ...the.input(the.payment()), key: the.id };
      await fire(the, await schedule(the, input));
      const row = `payout/${the.id}`;
      await the.until("the key asks", () => the.asking(row));
      await the.refused(the.approves(row));
    },
  },
  {
    name: "pays an approved key again by Schedules: fired by hand, backfilled, by two",
    steps: async (the) => {
      const input = { ...the.input(the.payment()), key: await paidByKey(the) };
      const schedules = [await schedule(the, input, "1"), await schedule(the, input, "2")];
      const fired = await Promise.all(schedules.map((one) => fire(the, one, 3)));
      for (const id of fired.flat()) await the.ends(id);
    },
  },
  {
    name: "pays an approved key to another payee by a Schedule",
    steps: async (the) => {
      const input = { ...the.input(the.toMallory), key: await paidByKey(the) };
      const [id = ""] = await fire(the, await schedule(the, input));
      return the.fails(id);
    },
  },
];
