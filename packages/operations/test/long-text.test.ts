import { defaultAssumptions } from "@durable-payments/api-core";
import { payout } from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import { cancelRun, terminateRun } from "../src/ending/end-run.ts";
import { keepSettlement } from "../src/history/settlement.ts";
import { planPayout } from "../src/input/payout.ts";
import { pauseSends, resumeSends } from "../src/pause/pause.ts";
import { describeRun } from "../src/runs/state.ts";
import { startRun } from "../src/start/start-run.ts";
import { NO_JOURNAL } from "./support/no-journal.ts";
import { startServer } from "./support/server.ts";

const { connected } = await startServer();

/** The longest that are taken, in characters of three bytes. */
const by = "支".repeat(200);
const reason = "付".repeat(1_000);
const planned = planPayout({ beneficiary_id: "b-1", payout }, defaultAssumptions);

it("Temporal takes the longest names, reasons and ids", () =>
  connected(async (temporal) => {
    const id = `${"支".repeat(333)}x`;
    expect(
      await startRun(temporal, id, planned, { startedBy: by, journal: NO_JOURNAL }),
    ).toMatchObject({ isNew: true });
    expect(await pauseSends(temporal, { by, why: reason })).toMatchObject({
      pause: { by, why: reason },
    });
    expect(await resumeSends(temporal, by)).toMatchObject({ by });
    await cancelRun(temporal, id, { by, reason });
    const run = await describeRun(temporal, id);
    await keepSettlement(temporal, run, { step: "createPayout", by, reason });
    await terminateRun(temporal, id, { by, reason });
    expect((await describeRun(temporal, id)).status.name).toBe("TERMINATED");
  }));
