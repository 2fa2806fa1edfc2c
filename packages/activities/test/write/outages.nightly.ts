import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import {
  findPostgres,
  type Postgres,
  startPostgres,
  whyNoPostgres,
} from "@durable-payments/tools/postgres";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { describeOutages } from "../support/outages.ts";
import { makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;

const missing = whyNoPostgres();

describe("over a ledger in PostgreSQL", skippedBecause(missing), () => {
  let folder: string;
  let server: Postgres;
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "activities-postgres-"));
    server = await startPostgres(folder);
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  // Each has a database of its own, which keeps its own time: after a 503 that would have to pass.
  const newDatabase = (): string => {
    const database = `ledger_${++count}`;
    const createdb = join(findPostgres().bin, "createdb");
    execFileSync(createdb, ["--maintenance-db", server.address("postgres"), database]);
    return server.address(database);
  };
  const open = (address: string) => openLedger(readLedgerPlace(address, ""));

  describeOutages(() => open(newDatabase()), ["refused"]);

  it.each(["dropped", "truncated", "html-502-after", "dropped-before", "html-502"] as const)(
    "a payout whose answers are lost (%s) is paid once, though two workers look for it at once",
    async (kind) => {
      const address = newDatabase();
      const world = await makeWorld({ openWith: () => open(address) });
      const ledger = await open(address);
      onTestFinished(() => ledger.close());
      const payee = { operation: "createBeneficiary", request: beneficiary, step: "b" };
      const made = await world.once(payee);
      if (made.is !== "done") throw new Error(JSON.stringify(made));
      const { beneficiary_id } = made.made;
      const task = { operation: "createPayout", request: { ...payout, beneficiary_id } };
      await world.simulator.addFault({ kind, operation: "createPayout", times: 2 });
      let ended = [await world.once(task)];
      for (let attempt = 2; attempt < 10; attempt++) {
        // As if the longest dispatch and request were over.
        await ledger.transact(world.name("createPayout"), ({ row }) =>
          row?.state === "unknown" ? { row: { ...row, until: 0 } } : {},
        );
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
