import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { keepSettlement } from "../src/history/settlement.ts";
import { describeRun } from "../src/runs/state.ts";
import { awaitRun } from "../src/runs/wait.ts";
import { watchRun } from "../src/runs/watch.ts";
import { startServer } from "./support/server.ts";

const { begin, connected } = await startServer();
const onUpdate = () => undefined;
const notFound = { _tag: "NotFound" };

it("no run is awaited or watched that does not exist", () =>
  connected(async (temporal) => {
    const over = new AbortController();
    const none = { workflowId: "none", runId: randomUUID() };
    await expect(watchRun(temporal, "none", { onUpdate, over: over.signal })).rejects.toMatchObject(
      notFound,
    );
    await expect(awaitRun(temporal, none, onUpdate)).rejects.toMatchObject(notFound);
    const run = await begin("some");
    const another = { ...none, workflowId: "some" };
    await expect(awaitRun(temporal, another, onUpdate)).rejects.toMatchObject(notFound);
    await run.terminate();
    const ended = { workflowId: "some", runId: run.firstExecutionRunId };
    expect(await awaitRun(temporal, ended, onUpdate)).toMatchObject({ state: "terminated" });
  }));

it.each(["", "half\uD83D"])("no run can have the id %j", (id) =>
  connected(async (temporal) => {
    await expect(describeRun(temporal, id)).rejects.toMatchObject({ _tag: "InvalidInput" });
  }),
);

it("of two settlements of a step at once one is kept, and the other is refused", () =>
  connected(async (temporal) => {
    await begin("settled");
    const run = await describeRun(temporal, "settled");
    const settlement = { step: "createPayout", by: "Ada", reason: "it is in the portal" };
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map(() => keepSettlement(temporal, run, settlement)),
    );
    expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
    const refusals = outcomes.flatMap((outcome): ReadonlyArray<unknown> =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(refusals).toMatchObject(refusals.map(() => ({ _tag: "Refused" })));
  }));

it("nothing is settled while something else has the id of the settlement", () =>
  connected(async (temporal) => {
    await begin("planted");
    const run = await describeRun(temporal, "planted");
    await begin(`settlement/${run.runId}/createPayout`);
    const settlement = { step: "createPayout", by: "Ada", reason: "it is in the portal" };
    await expect(keepSettlement(temporal, run, settlement)).rejects.toMatchObject({
      _tag: "Refused",
      next: { operation: "audit", workflowId: "planted" },
    });
  }));
