import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { runStarter } from "./support/run-starter.ts";

// What only the ledger decides works while Temporal is down: nothing listens at port 9.
const folder = mkdtempSync(join(tmpdir(), "starter-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "ledger.sqlite");

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:9");
  vi.stubEnv("PAYMENTS_CLIENT_ID", "client");
  vi.stubEnv("PAYMENTS_LEDGER", `sqlite:${file}`);
  return () => vi.unstubAllEnvs();
});

/** Runs SQL on the ledger's file. */
const run = (sql: string) => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};

it("backs up, migrates and prunes the ledger, and creates it only if it is asked to migrate", async () => {
  const copy = join(folder, "copy.sqlite");
  const backup = ["ledger", "backup", copy];
  const pruning = ["--before", "400d", "--by", "ada", "--reason", "old"];
  const prune = ["ledger", "prune", ...pruning, "--json"];
  for (const command of [backup, prune]) {
    expect(await runStarter(...command)).toMatchObject({ code: 3 });
    expect(() => statSync(file)).toThrow(/ENOENT/);
  }

  const migrate = ["ledger", "migrate", "--json"];
  const created = await runStarter(...migrate);
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining("version 1") });
  expect(JSON.parse(created.stdout)).toEqual({ place: file, migrations: [1, 2] });
  expect(JSON.parse((await runStarter(...migrate)).stdout)).toMatchObject({ migrations: [] });
  expect((await runStarter("ledger", "migrate")).stdout).toContain("needs no migration");

  expect(await runStarter(...backup)).toMatchObject({ code: 0 });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  writeFileSync(copy, "of yesterday");
  const again = await runStarter(...backup);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("exists") });
  expect(statSync(copy).size).toBe("of yesterday".length);

  const pruned = await runStarter(...prune);
  expect(JSON.parse(pruned.stdout)).toEqual({ workflowIds: 0 });

  // As the release before left it.
  run("DELETE FROM schema_version WHERE version = 2");
  const older = await runStarter(...prune);
  expect(older.code).toBe(3);
  expect(older.stdout).toContain("run ledger migrate, or start a worker of this release");
  run("INSERT INTO schema_version (version, least) VALUES (3, 3)");
  const newer = await runStarter(...migrate);
  expect(newer.code).toBe(3);
  expect(newer.stdout).toContain("run the newer release");
});
