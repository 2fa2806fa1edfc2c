/**
 * Versions of the ledger's tables, and who may change them.
 *
 * During an upgrade two releases share a ledger. Most migrations only add: the release before works with their tables,
 * and its payments must continue. So each migration says the least version of the code that works with its tables, and
 * the tables remember it: every look reads it, and older code sends nothing. Only a worker and `ledger migrate` change
 * tables. Any other command would stop the workers without a person's intent; and by creating a missing ledger it would
 * show an empty one, as if nothing had ever been sent.
 */
import { LedgerUnavailable } from "./store.ts";
import { type Migration, SCHEMA_VERSION } from "./migrations.ts";

/** Rights to change the tables of a ledger that is opened. */
export interface TableOptions {
  /**
   * False for a command: it refuses a missing ledger, and one whose tables this release would have to migrate. Default:
   * they are created or migrated, which only a worker and `ledger migrate` do.
   */
  readonly isMigrated?: boolean;
  /** Called before each migration, with its version and the version of the existing tables; 0 without tables. */
  readonly onMigration?: (version: number, found: number) => void;
  /** Called once the file of the ledger was moved, removed or replaced: nothing can be sent until it is opened again. */
  readonly onMoved?: (error: Error) => void;
}

/** The version of some tables, and the least version of the code that works with them; 0 if there are none. */
export interface Version {
  readonly version: number;
  readonly least: number;
}

/**
 * Returns the migrations that the tables lack, each with its version and statements.
 *
 * @throws LedgerUnavailable if this code cannot use them, or may not migrate them.
 */
export const missingMigrations = (
  place: string,
  { least, version }: Version,
  all: ReadonlyArray<Migration>,
  { isMigrated = true }: TableOptions,
) => {
  const its = `the ledger at ${place} has version ${version}`;
  if (least > SCHEMA_VERSION) {
    throw new LedgerUnavailable(
      `${its}, which needs a release with version ${least} or later, but this release has ${SCHEMA_VERSION}: run the newer release`,
    );
  }
  if (version < SCHEMA_VERSION && !isMigrated) {
    throw new LedgerUnavailable(
      version === 0
        ? `there is no ledger at ${place}. If there was one, restore its backup first, and start no worker (docs/restore.md). Otherwise start a worker, which creates it, or run ledger migrate`
        : `${its}, but this release needs ${SCHEMA_VERSION}: run ledger migrate, or start a worker of this release`,
    );
  }
  return all.slice(version).map((one, index) => {
    const next = version + index + 1;
    const done = `INSERT INTO schema_version (version, least) VALUES (${next}, ${one.least})`;
    return { version: next, found: version, statements: [...one.statements, done] };
  });
};
