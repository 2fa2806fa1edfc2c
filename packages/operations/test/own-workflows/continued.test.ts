import { makePaymentsClient } from "@durable-payments/api-core";
import { JournalUnavailable, makeMemoryJournal } from "@durable-payments/journal";
import { progressQuery } from "@durable-payments/protocol";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { retryRun } from "../../src/retry/retry.ts";
import { goSignal, type PayInTurn } from "./continued.ts";
import { type OwnRig, retrying, startOwnRig } from "./rig.ts";

// A busy machine takes its time.
const WITHIN = { timeout: 120_000, interval: 50 };

let rig: OwnRig;
let beneficiary_id: string;
beforeAll(async () => {
  // It remembers all that was sent, as one of a file does.
  rig = await startOwnRig("./continued.ts", { ...makeMemoryJournal(), isOfProcess: false });
  const { apiKey, clientId, url: baseUrl } = rig.simulator;
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  const payee = { ...beneficiary, account_currency: "USD", payment_method: "swift" } as const;
  ({ beneficiary_id } = await client.createBeneficiary(payee));
  await client.close();
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => rig?.end(), 60_000);

const paymentOf = (id: string, amount: string) => ({
  ...payout,
  beneficiary_id,
  currency: "USD",
  amount,
  payout_reference: id,
});

type Turn = Omit<PayInTurn, "next" | "paid" | "payment"> & { readonly amount: string };

const inputOf = (id: string, [turn, ...rest]: ReadonlyArray<Turn>): PayInTurn => {
  const { amount, ...how } = turn!;
  return {
    ...how,
    payment: paymentOf(id, amount),
    ...(rest.length > 0 && { next: inputOf(id, rest) }),
  };
};

const start = async (
  type: "bookInTurn" | "payAtLast" | "payByChild" | "payInTurn",
  args: (id: string) => ReadonlyArray<unknown>,
  options: {
    readonly cronSchedule?: string;
    readonly retry?: { readonly maximumAttempts: number };
  } = {},
) => {
  const id = randomUUID().slice(0, 8);
  const handle = await rig.environment.client.workflow.start(type, {
    workflowId: `rent-${id}`,
    taskQueue: rig.taskQueue,
    args: [...args(id)],
    ...options,
  });
  return { id, handle, workflowId: handle.workflowId };
};

const payInTurn = (...turns: ReadonlyArray<Turn>) =>
  start("payInTurn", (id) => [inputOf(id, turns)]);

const paid = async (id: string) =>
  (await rig.simulator.state()).payouts
    .filter(({ payout_reference }) => payout_reference === id)
    .map(({ amount }) => amount)
    .toSorted();

/** Everything that an error says, and what it wraps. */
const textsOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${textsOf(error.cause)}` : "";

const endOf = (workflowId: string): Promise<string> =>
  rig.environment.client.workflow
    .getHandle(workflowId)
    .result()
    .then(() => "completed", textsOf);

const reset = async (workflowId: string, runId: string) => {
  const { client } = rig.environment;
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId: made } = await client.workflowService.resetWorkflowExecution({
    namespace: "default",
    requestId: randomUUID(),
    reason: "as an operator would",
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: first!.eventId!,
  });
  return made;
};

/** The run that continues a first one, once it has begun. */
const continued = (handle: { readonly workflowId: string; readonly firstExecutionRunId: string }) =>
  vi.waitFor(async () => {
    const runId = await latest(handle.workflowId);
    expect(runId).not.toBe(handle.firstExecutionRunId);
    return runId;
  }, WITHIN);

/** The history is gone, as after its retention. */
const forget = async (workflowId: string, runId: string) => {
  const { workflow, workflowService } = rig.environment.client;
  const workflowExecution = { workflowId, runId };
  await workflowService.deleteWorkflowExecution({ namespace: "default", workflowExecution });
  await vi.waitFor(
    () => expect(workflow.getHandle(workflowId, runId).fetchHistory()).rejects.toThrow(),
    WITHIN,
  );
};

const latest = async (workflowId: string) =>
  (await rig.environment.client.workflow.getHandle(workflowId).describe()).runId;

const retry = (workflowId: string, patch?: unknown) =>
  rig.connected((temporal) => retryRun(temporal, workflowId, retrying(patch)));

describe("a run that continues as new", () => {
  it.each([
    ["another amount", "200.00"],
    ["the same amount", "100.00"],
  ])("does not take an earlier payment of its step name for its own: %s", async (_, amount) => {
    const { handle, id, workflowId } = await payInTurn({ amount: "100.00" }, { amount });
    const end = await endOf(workflowId);
    expect(end).toContain(
      `An earlier run of ${workflowId} (${handle.firstExecutionRunId}) has sent a request as createPayout`,
    );
    expect(end).toContain("give the step a name of its own");
    expect(end).not.toContain("nobody knows whether this was carried out");
    expect(await paid(id)).toEqual(["100.00"]);
    // Neither a retry nor a reset goes past it.
    await retry(workflowId);
    expect(await endOf(workflowId)).toContain("has sent a request as createPayout");
    await reset(workflowId, await latest(workflowId));
    expect(await endOf(workflowId)).toContain("has sent a request as createPayout");
    expect(await paid(id)).toEqual(["100.00"]);
  });

  it("goes on where its step is given a name of its own, with its own input", async () => {
    const { id, workflowId } = await payInTurn({ amount: "100.00" }, { amount: "200.00" });
    expect(await endOf(workflowId)).toContain("has sent a request as createPayout");
    await retry(workflowId, { step: "second" });
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["100.00", "200.00"]);
  });

  it("pays by steps of their own names, each once, however alike they are", async () => {
    const { id, workflowId } = await payInTurn(
      { amount: "100.00", step: "first" },
      { amount: "100.00", step: "second" },
      { amount: "100.00", step: "third" },
    );
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["100.00", "100.00", "100.00"]);
  });

  it("takes what it has sent itself before its reset, or its retry", async () => {
    const { id, workflowId } = await payInTurn(
      { amount: "100.00", step: "first" },
      { amount: "100.00", step: "second", stop: "fails" },
    );
    expect(await endOf(workflowId)).toContain("The booking failed.");
    await retry(workflowId);
    expect(await endOf(workflowId)).toContain("The booking failed.");
    await reset(workflowId, await latest(workflowId));
    expect(await endOf(workflowId)).toContain("The booking failed.");
    expect(await paid(id)).toEqual(["100.00", "100.00"]);
  });

  it("is continued anew by a reset of the run before it, and pays nothing a second time", async () => {
    const { handle, id, workflowId } = await payInTurn(
      { amount: "100.00", step: "first" },
      { amount: "200.00", step: "second" },
    );
    expect(await endOf(workflowId)).toBe("completed");
    await reset(workflowId, handle.firstExecutionRunId);
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["100.00", "200.00"]);
  });

  it("has an input of its own, whatever the run before it was amended to", async () => {
    await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const { id, workflowId } = await payInTurn(
      { amount: "100.00", step: "first" },
      { amount: "200.00", step: "second" },
    );
    expect(await endOf(workflowId)).toContain("was refused");
    await retry(workflowId, { payment: { amount: "150.00" } });
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["150.00", "200.00"]);
  });

  it("does not answer for what the run before it has paid, where it pays nothing itself", async () => {
    const { id, workflowId } = await payInTurn(
      { amount: "1.00", step: "january" },
      { amount: "0.00", stop: "owes nothing" },
      { amount: "3.00", step: "march" },
    );
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["1.00", "3.00"]);
  });

  it("does not take a payment for its own whose answer was lost, where the journal is lost, too", async () => {
    await rig.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const { handle, id, workflowId } = await payInTurn(
      { amount: "100.00" },
      { amount: "200.00", stop: "awaits" },
    );
    const runId = await continued(handle);
    // What is asked of it is answered as by a new file.
    vi.spyOn(rig.journal, "find").mockResolvedValue([]);
    await rig.environment.client.workflow.getHandle(workflowId, runId).signal(goSignal);
    expect(await endOf(workflowId)).toContain("has sent a request as createPayout");
    expect(await paid(id)).toEqual(["100.00"]);
  });

  it("sends nothing while the journal cannot be reached, and is refused then", async () => {
    const { handle, id, workflowId } = await payInTurn(
      { amount: "100.00" },
      { amount: "100.00", stop: "awaits" },
    );
    await continued(handle);
    const find = vi.spyOn(rig.journal, "find").mockImplementation(async () => {
      throw new JournalUnavailable("The journal is away.");
    });
    await rig.environment.client.workflow.getHandle(workflowId).signal(goSignal);
    await vi.waitFor(() => expect(find.mock.calls.length).toBeGreaterThan(1), WITHIN);
    expect(await paid(id)).toEqual(["100.00"]);
    find.mockRestore();
    expect(await endOf(workflowId)).toContain("has sent a request as createPayout");
    expect(await paid(id)).toEqual(["100.00"]);
  });

  it.each(["kept", "gone"])(
    "is refused where the journal has lost what was sent, its history being %s",
    async (history) => {
      const { handle, id, workflowId } = await payInTurn(
        { amount: "100.00" },
        { amount: "100.00", stop: "awaits" },
      );
      await continued(handle);
      vi.spyOn(rig.journal, "find").mockResolvedValue([]);
      vi.spyOn(rig.journal, "isOfProcess", "get").mockReturnValue(true);
      if (history === "gone") await forget(workflowId, handle.firstExecutionRunId);
      await rig.environment.client.workflow.getHandle(workflowId).signal(goSignal);
      expect(await endOf(workflowId)).toContain(
        history === "kept"
          ? "has sent a request as createPayout"
          : "The service shows what an earlier run",
      );
      expect(await paid(id)).toEqual(["100.00"]);
    },
  );
});

describe("an own operation of a run that continues as new", () => {
  const bookInTurn = async (isNamed: boolean) => {
    const { id, workflowId } = await start("bookInTurn", (ledger) => {
      const entry = { ledger, amount: "10.00", currency: "USD" };
      return [[entry, entry], isNamed];
    });
    const end = await endOf(workflowId);
    return { end, booked: rig.ledger.made("entries").filter(({ body }) => body["ledger"] === id) };
  };

  it("is not taken for the one of the run before", async () => {
    const { booked, end } = await bookInTurn(false);
    expect(end).toContain("has sent a request as bookEntry");
    expect(booked).toHaveLength(1);
  });

  it("is sent under a step name of its own", async () => {
    const { booked, end } = await bookInTurn(true);
    expect(end).toBe("completed");
    expect(booked).toHaveLength(2);
  });
});

describe("a run of a cron schedule", () => {
  it("does not take the payment of the run before it for its own", async () => {
    const { handle, id, workflowId } = await start(
      "payInTurn",
      (each) => [inputOf(each, [{ amount: "100.00" }])],
      { cronSchedule: "@every 1s" },
    );
    const { workflow } = rig.environment.client;
    const second = workflow.getHandle(workflowId, await continued(handle));
    // Temporal starts the next one after a run that has failed, too.
    const failure = await vi.waitFor(async () => {
      const { events } = await second.fetchHistory();
      const end = events?.at(-1);
      const { failure: ended } =
        end?.workflowExecutionFailedEventAttributes ??
        end?.workflowExecutionContinuedAsNewEventAttributes ??
        {};
      expect(ended).toBeTruthy();
      return ended?.message;
    }, WITHIN);
    expect(failure).toContain("has sent a request as createPayout");
    await workflow.getHandle(workflowId).terminate();
    expect(await paid(id)).toEqual(["100.00"]);
  });
});

describe("another attempt of a retry policy", () => {
  it("takes what the attempt before it has sent, where it asks for the same", async () => {
    const { id, workflowId } = await start(
      "payAtLast",
      (each) => [[paymentOf(each, "100.00"), paymentOf(each, "100.00")]],
      { retry: { maximumAttempts: 2 } },
    );
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["100.00"]);
  });

  it("does not take it for another payment", async () => {
    const { id, workflowId } = await start(
      "payAtLast",
      (each) => [[paymentOf(each, "100.00"), paymentOf(each, "200.00")]],
      { retry: { maximumAttempts: 2 } },
    );
    const end = await endOf(workflowId);
    expect(end).toContain("has sent another request as createPayout");
    expect(end).not.toContain("nobody knows whether this was carried out");
    expect(await paid(id)).toEqual(["100.00"]);
  });
});

describe("a child that is started again under its id", () => {
  const partOf = (id: string, amount: string) => {
    const { beneficiary_id: _, ...part } = paymentOf(id, amount);
    return { beneficiary_id, payout: part };
  };
  const payByChild = (how: string, ...amounts: ReadonlyArray<string>) =>
    start("payByChild", (id) => [amounts.map((amount) => partOf(id, amount)), how]);

  it.each(["100.00", "200.00"])(
    "by a parent that continues as new does not take the earlier payment for its own: %s",
    async (amount) => {
      const { id, workflowId } = await payByChild("continued", "100.00", amount);
      expect(await endOf(workflowId)).toContain("has sent a request as createPayout");
      expect(await paid(id)).toEqual(["100.00"]);
    },
  );

  it("in one run does not take it for another payment", async () => {
    const { id, workflowId } = await payByChild("inOneRun", "100.00", "200.00");
    expect(await endOf(workflowId)).toContain("has sent another request as createPayout");
    expect(await paid(id)).toEqual(["100.00"]);
  });

  it("in one run takes it for the same one", async () => {
    const { id, workflowId } = await payByChild("inOneRun", "100.00", "100.00");
    expect(await endOf(workflowId)).toBe("completed");
    expect(await paid(id)).toEqual(["100.00"]);
  });
});

describe("a run whose id was used before", () => {
  it("takes what a chain has paid before, each run what is its own", async () => {
    const turns = [
      { amount: "1.00", step: "january" },
      { amount: "2.00", step: "february" },
      { amount: "3.00", step: "march" },
    ];
    const { handle, id, workflowId } = await payInTurn(...turns);
    const made: unknown = await handle.result();
    const again = await rig.environment.client.workflow.start("payInTurn", {
      workflowId,
      taskQueue: rig.taskQueue,
      args: [inputOf(id, turns)],
    });
    expect(await again.result().catch(textsOf)).toEqual(made);
    expect(await paid(id)).toEqual(["1.00", "2.00", "3.00"]);
  });

  it("does not take the earlier payment for another one: not by itself, and not reset", async () => {
    const { handle, id, workflowId } = await payInTurn({ amount: "100.00" });
    await handle.result();
    const { workflow } = rig.environment.client;
    const again = await workflow.start("payInTurn", {
      workflowId,
      taskQueue: rig.taskQueue,
      args: [inputOf(id, [{ amount: "200.00" }])],
    });
    await vi.waitFor(async () => {
      const { attention } = await again.query(progressQuery);
      expect(attention?.reason).toContain("It was another request than this one");
    }, WITHIN);
    await reset(workflowId, again.firstExecutionRunId);
    expect(await endOf(workflowId)).toContain("has sent another request as createPayout");
    await retry(workflowId);
    expect(await endOf(workflowId)).toContain("has sent another request as createPayout");
    expect(await paid(id)).toEqual(["100.00"]);
  });
});
