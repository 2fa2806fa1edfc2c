import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPostgres } from "@durable-payments/tools/postgres";
import { beneficiary, payout } from "@durable-payments/tools/test-data/inputs";
import {
  accessOf,
  makeKeyring,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, describe, expect, it, vi } from "vitest";
import { type Cluster, startCluster, whyNoCluster } from "./support/cluster.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const missing = whyNoCluster();

/** Values that stand nowhere else, paid in plain text first, then encrypted. */
const PLAIN = {
  company_name: "Ocelot Handels GmbH",
  account_holder: "Holder Ocelot",
  iban: "DE75512108001245126199",
  email: "ocelot@example.org",
  address: "Ocelotweg 78",
  payout_reference: "Reference Ocelot 8842",
} as const;
const MARKED: Readonly<Record<keyof typeof PLAIN, string>> = {
  company_name: "Quetzal Handels GmbH",
  account_holder: "Holder Quetzal",
  iban: "DE02120300000000202051",
  email: "quetzal@example.org",
  address: "Quetzalweg 77",
  payout_reference: "Reference Quetzal 8841",
};

describe("a dump of Temporal's databases", skippedBecause(missing), () => {
  const folder = makeTestFolder();
  let cluster: Cluster | undefined;
  let simulator: ReadyProcess | undefined;
  afterAll(async () => {
    await simulator?.kill();
    await cluster?.stop();
    folder.remove();
  });

  const dump = ({ address, password }: Cluster["database"]): Buffer =>
    execFileSync(join(findPostgres().bin, "pg_dumpall"), ["-d", address("postgres")], {
      env: { PGPASSWORD: password },
      maxBuffer: 2 ** 30,
    });
  /** The values that bytes hold, in plain text or as PostgreSQL writes binary columns. */
  const valuesIn = (bytes: Buffer, values: typeof MARKED): ReadonlyArray<string> =>
    Object.entries(values).flatMap(([name, value]) =>
      [value, Buffer.from(value).toString("hex")].some((text) => bytes.includes(text))
        ? [name]
        : [],
    );

  it("holds every value of a payment without a keyring, and none with one, nor does a log", async () => {
    const temporal = (cluster = await startCluster({ folder: folder.path }));
    const service = (simulator = await startApp("simulator", [
      "--port=0",
      "--json",
      "--settle-after=0",
    ]));
    const keyring = makeKeyring(folder.path);
    const file = join(folder.path, "payout.json");

    const pay = async (
      id: string,
      { payout_reference, ...ofBeneficiary }: typeof MARKED,
      more: NodeJS.ProcessEnv,
    ): Promise<string> => {
      const input = {
        beneficiary: { ...beneficiary, ...ofBeneficiary },
        payout: { ...payout, payout_reference },
      };
      writeFileSync(file, JSON.stringify(input));
      const variables = {
        ...folder.variables,
        ...workerVariables(temporal, accessOf(service)),
        PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
        ...more,
      };
      const worker = await startApp("worker", ["--json"], variables);
      try {
        for (const args of [
          ["pay", file, "--id", id, "--by", "ada", "--json"],
          ["show", id, "--follow", "--exit-status", "--json"],
        ]) {
          expect(await runApp("starter", args, variables)).toMatchObject({ exitCode: 0 });
        }
      } finally {
        await worker.kill();
      }
      return worker.stdout() + worker.stderr();
    };

    await pay("plain", PLAIN, {});
    expect(valuesIn(dump(temporal.database), PLAIN)).toEqual(Object.keys(PLAIN));

    const log = await pay("encrypted", MARKED, { PAYMENTS_KEYRING: keyring });
    const encrypted = dump(temporal.database);
    expect(encrypted.includes(Buffer.from("encryption-key-id").toString("hex"))).toBe(true);
    expect(valuesIn(encrypted, MARKED)).toEqual([]);
    const logs = [temporal.server, service].map((one) => one.stdout() + one.stderr());
    logs.push(log, readFileSync(join(folder.path, "postgres/log"), "utf8"));
    expect(valuesIn(Buffer.from(logs.join("\n")), MARKED)).toEqual([]);
  });
});
