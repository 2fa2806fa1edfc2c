import { randomUUID } from "node:crypto";
import { batchMethods } from "./batch-methods.ts";
import { decisionMethods } from "./decision-methods.ts";
import type { Ledger } from "./ledger.ts";
import { metaMethods } from "./meta-methods.ts";
import { runMethods } from "./run-methods.ts";
import { META } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { type Database, query } from "./sql.ts";
import { upkeepMethods } from "./upkeep-methods.ts";
import { writeMethods } from "./write-methods.ts";

/** Returns the ledger in a database, whose tables are there. */
export const makeLedger = async (database: Database, seal: Seal): Promise<Ledger> => {
  try {
    await database.write(
      null,
      [query("SELECT id FROM meta"), query(`SELECT ${database.dialect.identity} AS server`)],
      ([meta = [], servers = []]) => ({
        value: undefined,
        writes:
          meta.length > 0
            ? []
            : [
                META.insert(
                  [
                    {
                      id: 1,
                      ledgerId: randomUUID(),
                      server: String(servers[0]?.["server"] ?? ""),
                      former: [],
                      suspects: [],
                      seenEpoch: 0,
                      epoch: 1,
                      leastBuild: 0,
                    },
                  ],
                  seal,
                ),
              ],
      }),
    );
    const meta = metaMethods(database, seal);
    return {
      place: database.place,
      isOfOneHost: database.isOfOneHost,
      ...meta,
      ...writeMethods(database, seal),
      ...decisionMethods(database, seal),
      ...runMethods(database, seal),
      ...batchMethods(database, seal),
      ...upkeepMethods(database, seal, meta.state),
      backup: database.backup.bind(database),
      close: database.close.bind(database),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};
