import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { startPostgres, whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPayment } from "../../src/actions/start.ts";
import type { StartReport, StartRequest } from "../support/start-process.ts";
import { operationsOn } from "../support/stub-client.ts";

/*
 * Two programs on one ledger: each has its own connection, and one of them may be killed at any moment.
 */

const inFile = async (folder: string) => ({
  place: `sqlite:${join(folder, "ledger.sqlite")}`,
  stop: async () => undefined,
});

const inPostgres = async (folder: string) => {
  const server = await startPostgres(folder);
  return { place: server.address("postgres"), stop: server.stop };
};

const start = async (child: ChildProcess, requests: ReadonlyArray<StartRequest>) => {
  child.send(requests);
  const [said] = await once(child, "message");
  return said as StartReport;
};

const startProcess = async (place: string): Promise<ChildProcess> => {
  const child = fork(new URL("../support/start-process.ts", import.meta.url), [place], {
    execArgv: ["--conditions=@durable-payments/source"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  await once(child, "message");
  return child;
};

const LEDGERS = [
  { where: "a file", make: inFile, options: {} },
  { where: "PostgreSQL", make: inPostgres, options: skippedBecause(whyNoPostgres()) },
];

for (const { make, options, where } of LEDGERS)
  describe(`with a ledger in ${where}, of two processes`, options, () => {
    const folder = makeTestFolder();
    let made: Awaited<ReturnType<typeof make>>;
    beforeAll(async () => {
      made = await make(folder.path);
    });
    afterAll(async () => {
      await made.stop();
      folder.remove();
    });

    test("one starts each of many equal payments, and the other is refused", async () => {
      const children = [await startProcess(made.place), await startProcess(made.place)];
      const amounts = Array.from({ length: 40 }, (__, at) => `${at + 1}.00`);
      const of = (name: number) => amounts.map((amount) => ({ key: `${name}-${amount}`, amount }));
      const said = await Promise.all(children.map((child, name) => start(child, of(name))));
      const started = said.flatMap(({ asked }) => asked.map((id) => id.replace(/.*-/, "")));
      expect(started.toSorted()).toEqual(amounts.toSorted());
      const refusals = said.flatMap(({ refused }) => refused);
      expect(refusals).toHaveLength(amounts.length);
      expect(new Set(refusals.map((one) => /is likely a duplicate/.test(one)))).toEqual(
        new Set([true]),
      );
    });

    test("one is killed after Temporal took its start: the other starts it again, and no equal one", async () => {
      const ledger = await openLedger(readLedgerPlace(made.place, ""));
      onTestFinished(() => ledger.close());
      const { asked, operations } = operationsOn(ledger);
      const child = await startProcess(made.place);
      const silent = { key: "killed", amount: "99.00", isSilent: true };
      expect(await start(child, [silent])).toMatchObject({ asked: ["payInvoice/killed"] });
      child.kill("SIGKILL");
      await once(child, "exit");
      const again = (key: string) =>
        startPayment<(invoice: object) => Promise<void>>(operations.client, "payInvoice", {
          key,
          startedBy: "ada",
          args: [{ beneficiary_id: "b-1", amount: "99.00", currency: "EUR" }],
          ledger,
        });
      await expect(again("other")).rejects.toThrow("another start that is not recorded yet");
      await again("killed");
      await expect(again("other")).rejects.toThrow("as payInvoice/killed of");
      expect(asked.started).toHaveLength(1);
    });
  });
