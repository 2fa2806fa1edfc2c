import { progressQuery } from "@durable-payments/protocol";
import { expect, it } from "vitest";
import { useRig, useService } from "./support/hooks.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { goOnSignal, waitBeside } from "./support/wait-beside.ts";

const rig = useRig(localRig);
const service = useService();

it("the stage is a step that is under way, though one beside it was begun later and has ended", async () => {
  await withWorker(rig, service.activities, async ({ start }) => {
    const handle = await start(waitBeside, []);
    const { stage, steps } = await handle.query(progressQuery);
    expect(steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "first running",
      "second done",
    ]);
    expect(stage).toBe("first");
    await handle.signal(goOnSignal);
    await handle.result();
    expect((await handle.query(progressQuery)).stage).toBe("done");
  });
});
