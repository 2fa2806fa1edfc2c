import { progressQuery } from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { describe, expect, it } from "vitest";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { failingSignal, registerUndo } from "./support/register-undo.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";

describe.skipIf(!timeSkipping.available)("what a run has registered to be undone", () => {
  const rig = useRig(timeSkippingRig);
  const service = useService();

  it("is named in its notes where it continues as new, since the next run does not undo it", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(registerUndo, ["continue"]);
      await handle.result();
      const { client } = rig.environment;
      const first = client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
      expect((await first.query(progressQuery)).notes).toStrictEqual([
        "continued as new, where nothing undoes this any more unless it registers it: end the lease",
      ]);
      const { notes } = await client.workflow.getHandle(handle.workflowId).query(progressQuery);
      expect(notes).toStrictEqual([]);
    });
  });

  it("is not undone where the handler of a signal fails and nothing catches it: Temporal ends the run", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(registerUndo, ["wait"]);
      await handle.signal(failingSignal);
      expect(await failureOf(handle.result())).toMatchObject({
        message: "The handler has failed.",
      });
      expect((await handle.query(progressQuery)).notes).toStrictEqual([]);
    });
  });
});
