import { setTimeout as sleep } from "node:timers/promises";
import { bundleForReplay, replayHistories } from "@durable-payments/replay";
import { expect, it } from "vitest";
import { asWorker } from "./support/bundle.ts";
import { checkTwoAtOnce } from "./support/check-two-at-once.ts";
import { useRig } from "./support/hooks.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";

const rig = useRig(timeSkippingRig);

// Seed 40002 of the chaos run: the workflow goes on after each answer by itself, but a replay has both at
// once, writes its search attributes once instead of twice, and the run stands still.
it("answers of local activities that are asked for at the same time replay as they came", async () => {
  const activities = {
    checkRequests: async ([{ at = "" } = {}]: ReadonlyArray<{ readonly at?: string }>) => {
      // The answer of the first is taken up before that of the second is there.
      if (at === "second") await sleep(300);
      return "0123456789abcdef";
    },
  };
  await withWorker(rig, activities, async ({ start }) => {
    const handle = await start(checkTwoAtOnce, []);
    await handle.result();
    const bundle = await bundleForReplay(
      new URL("./support/check-two-at-once.ts", import.meta.url).pathname,
      [asWorker],
    );
    const histories = [{ workflowId: handle.workflowId, history: await handle.fetchHistory() }];
    for await (const replay of replayHistories(bundle, histories)) {
      expect(replay).toMatchObject({ deterministic: true });
    }
  });
});
