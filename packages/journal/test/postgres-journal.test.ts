import { whyNoPostgres } from "@durable-payments/tools/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Journal, openJournal } from "../src/index.ts";
import { describeJournal } from "./support/contract.ts";
import { PASSWORD, type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { describeProcesses } from "./support/processes.ts";
import { sendOf } from "./support/sends.ts";

const missing = whyNoPostgres();
if (missing !== undefined) console.warn(`The PostgreSQL journal is not tested: ${missing}.`);

describe.skipIf(missing !== undefined)("a journal in PostgreSQL", () => {
  let server: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const open = (address: string, account = "account-1"): Promise<Journal> =>
    openJournal({ _tag: "Postgres", address }, account);
  const emptyDatabase = async (): Promise<string> => {
    const name = `empty_${(databases += 1)}`;
    await server.query("postgres", `CREATE DATABASE ${name}`);
    return name;
  };

  describeJournal((account) => open(server.address("postgres"), account));
  describeProcesses(() => server.address("postgres"));

  it("is made by one of many workers that start at once", async () => {
    const address = server.address(await emptyDatabase());
    const journals = await Promise.all(Array.from({ length: 8 }, () => open(address)));
    const begun = await Promise.all(journals.map((journal) => journal.begin(sendOf())));
    expect(begun.filter(({ _tag }) => _tag === "Begun")).toHaveLength(1);
    await Promise.all(journals.map((journal) => journal.close()));
  });

  it("of a later version is refused", async () => {
    const database = await emptyDatabase();
    const address = server.address(database);
    await (await open(address)).close();
    await server.query(database, "INSERT INTO durable_payments.schema_version VALUES (99)");
    await expect(open(address)).rejects.toThrow(
      /is of version 99, and this version of durable-payments knows 3 at most/,
    );
  });

  it("is refused where commits do not wait for the disk", async () => {
    const database = await emptyDatabase();
    await server.query(database, `ALTER DATABASE ${database} SET synchronous_commit = off`);
    await expect(open(server.address(database))).rejects.toThrow(/synchronous_commit is off/);
  });

  it("goes on after the server was restarted", async () => {
    const journal = await open(server.address("postgres"), "restarted");
    const begun = await journal.begin(sendOf());
    await server.restart();
    if (begun._tag !== "Begun") throw new Error("not begun");
    expect(await begun.send.isLatest()).toBe(true);
    expect((await journal.begin(sendOf({ number: 2 })))._tag).toBe("Begun");
    await journal.close();
  });

  it("that cannot be reached says where it is, and no password", async () => {
    const wrong = server.address("postgres").replace(PASSWORD, `${PASSWORD}-2`);
    const errors = await Promise.all(
      [wrong, server.address("missing"), `postgres://u:${PASSWORD}@127.0.0.1:1/d`].map((address) =>
        open(address).then(
          () => "opened",
          (error: unknown) => `${String(error)} ${JSON.stringify(error)}`,
        ),
      ),
    );
    expect(errors[0]).toMatch(/journal's database 127\.0\.0\.1:\d+\/postgres cannot be used/);
    expect(errors[1]).toMatch(/database "missing" does not exist/);
    expect(errors[2]).toMatch(/127\.0\.0\.1:1\/d cannot be used .*ECONNREFUSED/);
    expect(errors.join()).not.toContain(PASSWORD);
  });
});
