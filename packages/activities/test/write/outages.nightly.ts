import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { describe, expect, it, onTestFinished } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { describeOutages } from "../support/outages.ts";
import { postgresOfTests } from "../support/postgres.ts";
import { timeInPostgres } from "../support/skipped-time.ts";
import { makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;

const missing = whyNoPostgres();

describe("over a ledger in PostgreSQL", skippedBecause(missing), () => {
  const server = postgresOfTests();

  describeOutages(() => timeInPostgres(server()));

  it.each(["dropped", "truncated", "html-502-after", "dropped-before", "html-502"] as const)(
    "a payout whose answers are lost (%s) is paid once, though two workers look for it at once",
    async (kind) => {
      const { open, skip } = await timeInPostgres(server());
      const world = await makeWorld({ openWith: open });
      const ledger = await open();
      onTestFinished(() => ledger.close());
      const payee = { operation: "createBeneficiary", request: beneficiary, step: "b" };
      const made = await world.once(payee);
      if (made.is !== "done") throw new Error(JSON.stringify(made));
      const { beneficiary_id } = made.made;
      const task = { operation: "createPayout", request: { ...payout, beneficiary_id } };
      await world.simulator.addFault({ kind, operation: "createPayout", times: 2 });
      let ended = [await world.once(task)];
      for (let attempt = 2; attempt < 10; attempt++) {
        // The longest dispatch and request are over.
        await skip(60_000);
        const later = { attempt, testimony: undefined };
        const others = [world.engine, { ...world.engine, ledger }];
        ended = await Promise.all(others.map((one) => world.once(task, later, one)));
        if (ended.every(({ is }) => is === "done")) break;
      }
      const { payouts } = await world.simulator.state();
      expect(payouts).toHaveLength(1);
      const known = { is: "done", made: { payout_id: payouts[0]?.payout_id } };
      expect(ended).toMatchObject([known, known]);
    },
  );
});
