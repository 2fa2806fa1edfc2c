import { expect, it, onTestFinished } from "vitest";
import { type Ledger, type LedgerOptions, LedgerUnavailable } from "../../src/index.ts";
import { migrations } from "../../src/store/migrations.ts";
import { made, nameOf, saving } from "./rows.ts";

/** A new place for a ledger, which another release can change. */
export interface MigratedPlace {
  readonly open: (options?: LedgerOptions) => Promise<Ledger>;
  /** Runs SQL on its tables. */
  readonly run: (sql: string) => Promise<unknown>;
}

/** The indexes of the second version: without them, a ledger is as the release before left it. */
const INDEXES = (migrations("", { now: "", trigger: () => "" })[1]?.statements ?? []).flatMap(
  (statement) => /CREATE INDEX (\w+)/.exec(statement)?.[1] ?? [],
);

const COMMAND: LedgerOptions = { isMigrated: false };

/** What a ledger of another release does. */
export const describeMigrations = (newPlace: () => Promise<MigratedPlace>): void => {
  const opened = async (place: MigratedPlace, options?: LedgerOptions): Promise<Ledger> => {
    const ledger = await place.open(options);
    onTestFinished(() => ledger.close());
    return ledger;
  };
  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it("is created by a worker, and by no command", async () => {
    const place = await newPlace();
    const refused = await errorOf(place.open(COMMAND));
    expect(refused).toBeInstanceOf(LedgerUnavailable);
    expect(String(refused)).toMatch(/there is no (ledger at|file) /);
    // Nor has the refused command left anything.
    expect(String(await errorOf(place.open(COMMAND)))).toBe(String(refused));
    const done: Array<number> = [];
    await opened(place, { onMigration: (version) => done.push(version) });
    expect(done).toEqual([1, 2]);
    await opened(place, { ...COMMAND, onMigration: (version) => done.push(version) });
    expect(done).toEqual([1, 2]);
  });

  it("is migrated from the release before by a worker, and by no command", async () => {
    const place = await newPlace();
    const before = await opened(place);
    const name = nameOf();
    await before.transact(name, saving(name));
    for (const index of INDEXES) await place.run(`DROP INDEX ${index}`);
    await place.run("DELETE FROM schema_version WHERE version = 2");
    expect(String(await errorOf(place.open(COMMAND)))).toMatch(
      /has version 1, but this release needs 2: run ledger migrate, or start a worker of this release/,
    );
    const done: Array<readonly [found: number, version: number]> = [];
    const onMigration = (version: number, found: number) => done.push([found, version]);
    const after = await opened(place, { onMigration });
    expect(done).toEqual([[1, 2]]);
    // The worker of the release before goes on.
    await before.transact(name, saving(name, made("P-1")));
    expect((await before.look(name)).isOutdated).toBe(false);
    expect((await after.look(name)).row?.madeId).toBe("P-1");
    await opened(place, COMMAND);
  });

  it("serves this release after an additive migration of a later one", async () => {
    const place = await newPlace();
    const running = await opened(place);
    await place.run("ALTER TABLE writes ADD COLUMN later TEXT");
    await place.run("ALTER TABLE log ADD COLUMN later TEXT");
    await place.run("CREATE TABLE later (name TEXT)");
    await place.run("INSERT INTO schema_version (version, least) VALUES (3, 1)");
    for (const ledger of [running, await opened(place), await opened(place, COMMAND)]) {
      const name = nameOf({ workflowId: `payout-${Math.random()}` });
      await ledger.transact(name, saving(name));
      await ledger.transact(name, saving(name, made(`P-${name.workflowId}`)));
      expect((await ledger.look(name)).isOutdated).toBe(false);
      expect(await ledger.verify(name.workflowId)).toEqual({ isIntact: true, lines: 2 });
    }
  });

  it("stops this release after any other migration of a later one", async () => {
    const place = await newPlace();
    const running = await opened(place);
    await place.run("INSERT INTO schema_version (version, least) VALUES (3, 3)");
    expect((await running.look(nameOf())).isOutdated).toBe(true);
    for (const options of [{}, COMMAND]) {
      expect(String(await errorOf(place.open(options)))).toMatch(
        /has version 3, which needs a release with version 3 or later, but this release has 2: run the newer release/,
      );
    }
  });
};
