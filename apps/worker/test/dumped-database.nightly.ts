import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ClusterProcess,
  createCluster,
  DATABASE_USER,
  findPostgres,
  whyNoCluster,
} from "@durable-payments/tools/cluster";
import { spawnProcess, type StartedProcess } from "@durable-payments/tools/processes";
import { beneficiary, payout } from "@durable-payments/tools/test-data/inputs";
import {
  accessOf,
  makeTestFolder,
  runApp,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, describe, expect, it, vi } from "vitest";

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
  const running: Array<readonly [StartedProcess, NodeJS.Signals?]> = [];
  afterAll(async () => {
    for (const [started, signal] of running.toReversed()) await started.kill(signal);
    folder.remove();
  });
  const start = async (one: ClusterProcess) => {
    const { args, command, killedBy, name, options: as } = one;
    const started = spawnProcess(command, args, { name, ownGroup: true, ...as });
    running.push([started, killedBy]);
    await one.ready(started);
  };

  const dump = (port: number, password: string): Buffer =>
    execFileSync(
      join(findPostgres().bin, "pg_dumpall"),
      ["-h", "127.0.0.1", "-p", `${port}`, "-U", DATABASE_USER],
      { env: { PGPASSWORD: password }, maxBuffer: 2 ** 30 },
    );
  /** The values that bytes hold, in plain text or as PostgreSQL writes binary columns. */
  const valuesIn = (bytes: Buffer, values: typeof MARKED): ReadonlyArray<string> =>
    Object.entries(values).flatMap(([name, value]) =>
      [value, Buffer.from(value).toString("hex")].some((text) => bytes.includes(text))
        ? [name]
        : [],
    );

  it("holds every value of a payment without a keyring, and none with one, nor does a log", async () => {
    const cluster = await createCluster({
      folder: folder.path,
    });
    await cluster.start(start);
    const simulator = await startApp("simulator", ["--port=0", "--json", "--settle-after=0"]);
    running.push([simulator]);
    const keyring = join(folder.path, "keys");
    mkdirSync(keyring, { mode: 0o700 });
    writeFileSync(join(keyring, "k1.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
    writeFileSync(join(keyring, "current"), "k1", { mode: 0o600 });
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
        ...workerVariables({ address: cluster.address }, accessOf(simulator)),
        PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
        ...more,
      };
      const worker = await startApp("worker", ["--json"], variables);
      try {
        for (const args of [
          ["pay", file, "--id", id, "--json"],
          ["show", id, "--follow", "--exit-status", "--json"],
        ]) {
          expect(await runApp("starter", args, variables)).toMatchObject({ exitCode: 0 });
        }
      } finally {
        await worker.kill();
      }
      return worker.stdout() + worker.stderr();
    };
    const { password, port } = cluster.database;

    await pay("plain", PLAIN, {});
    expect(valuesIn(dump(port, password), PLAIN)).toEqual(Object.keys(PLAIN));

    const log = await pay("encrypted", MARKED, { PAYMENTS_KEYRING: keyring });
    const encrypted = dump(port, password);
    expect(encrypted.includes(Buffer.from("encryption-key-id").toString("hex"))).toBe(true);
    expect(valuesIn(encrypted, MARKED)).toEqual([]);
    const logs = running.map(([started]) => started.stdout() + started.stderr());
    expect(valuesIn(Buffer.from([log, ...logs].join("\n")), MARKED)).toEqual([]);
  });
});
