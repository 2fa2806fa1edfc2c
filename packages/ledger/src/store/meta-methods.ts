import { LedgerUnavailable } from "../errors.ts";
import type { Ledger, LedgerMark } from "./ledger.ts";
import { lastHashOf, LogWriter, selectLastHash } from "./log.ts";
import { LIMITS, META, migrations } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { type Database, query, type SqlRow } from "./sql.ts";
import { number, readFields, type RowOf, text } from "./table.ts";

const SCHEMA_VERSION = migrations("").length;

const READ = { ...META.fields, sequence: number, now: number, serverNow: text };

/** What the ledger knows of itself: what it says, and what only `expect` and `recover` need. */
type Meta = RowOf<typeof READ>;

const readMeta = ([found]: ReadonlyArray<SqlRow>, seal: Seal): Meta => {
  if (found === undefined) throw new LedgerUnavailable("the ledger's table meta is empty");
  const meta = readFields(READ, found, seal);
  // Of a server and its timeline, too, where there is one.
  const ledgerId = meta.serverNow === "" ? meta.ledgerId : `${meta.ledgerId}@${meta.serverNow}`;
  return { ...meta, ledgerId };
};

/** Returns why the ledger is not what a witness remembers, or undefined where it is. */
const whyRestored = (meta: Meta, mark: LedgerMark): string | undefined => {
  if (meta.server !== meta.serverNow)
    return "its server was replaced, or a standby or backup took its place";
  if (mark.ledgerId !== meta.ledgerId && !meta.former.includes(mark.ledgerId)) {
    return "it is another ledger than the one in use before";
  }
  if (mark.epoch < meta.epoch) return undefined;
  return mark.epoch > meta.epoch || mark.sequence > meta.sequence
    ? `it ends at ${meta.sequence}, and had got to ${mark.sequence}`
    : undefined;
};

/** Identity, witness, and what is set for all workers. */
export const metaMethods = (
  database: Database,
  seal: Seal,
): Pick<
  Ledger,
  "state" | "mark" | "expect" | "recover" | "pin" | "setLimits" | "setLeastBuild"
> => {
  const { identity, now } = database.dialect;
  const select = query(
    `SELECT meta.*, ${now} AS now, ${identity} AS server_now,
     (SELECT coalesce(max(sequence), 0) FROM log) AS sequence FROM meta`,
  );
  const read = async (): Promise<Meta> => {
    const [found = []] = await database.read([select]);
    return readMeta(found, seal);
  };
  const markOf = ({ epoch, ledgerId, sequence }: LedgerMark): LedgerMark => ({
    ledgerId,
    epoch,
    sequence,
  });

  return {
    state: async () => {
      const { epoch, leastBuild, ledgerId, namespace, now: at, sequence, stopped } = await read();
      const schemaVersion = SCHEMA_VERSION;
      return { ledgerId, epoch, sequence, namespace, leastBuild, stopped, schemaVersion, now: at };
    },
    mark: async () => markOf(await read()),
    expect: async (mark) => {
      const seen = await read();
      if (seen.stopped === null && whyRestored(seen, mark) === undefined) return true;
      return database.write(null, [select], ([found = []]) => {
        const meta = readMeta(found, seal);
        const why = whyRestored(meta, mark);
        if (why === undefined) return { value: meta.stopped === null, writes: [] };
        const suspects = JSON.stringify([...new Set([...meta.suspects, mark.ledgerId])]);
        return {
          value: false,
          writes: [
            query(
              "UPDATE meta SET stopped = coalesce(stopped, $1), suspects = $2, seen_epoch = $3",
              `The ledger was restored: ${why}.`,
              suspects,
              Math.max(meta.seenEpoch, mark.epoch),
            ),
          ],
        };
      });
    },
    recover: (actor) =>
      database.write(null, [select, selectLastHash("")], ([found = [], last = []]) => {
        const meta = readMeta(found, seal);
        const epoch = Math.max(meta.epoch, meta.seenEpoch) + 1;
        const log = new LogWriter("", lastHashOf(last), meta.now, seal);
        log.decision({
          ...actor,
          account: "",
          workflowId: "",
          step: null,
          kind: "recover",
          question: null,
          value: { epoch, stopped: meta.stopped },
        });
        const former = JSON.stringify([...new Set([...meta.former, ...meta.suspects])]);
        return {
          value: { ...markOf(meta), epoch },
          writes: [
            query(
              "UPDATE meta SET epoch = $1, stopped = NULL, former = $2, suspects = '[]', server = $3",
              epoch,
              former,
              meta.serverNow,
            ),
            ...log.writes,
          ],
        };
      }),
    pin: async (namespace) => {
      // Asked at every start of a worker, and written once.
      if ((await read()).namespace === namespace) return;
      await database.write(null, [select], ([found = []]) => {
        const { namespace: pinned } = readMeta(found, seal);
        if (pinned !== null && pinned !== namespace) {
          throw new LedgerUnavailable(
            `the ledger at ${database.place} serves the Temporal namespace ${pinned}, not ${namespace}: name another ledger by PAYMENTS_LEDGER`,
          );
        }
        return {
          value: undefined,
          writes: [query("UPDATE meta SET namespace = $1", namespace)],
        };
      });
    },
    setLimits: (limits) =>
      database.write(null, [], () => ({ value: undefined, writes: [LIMITS.save([limits], seal)] })),
    setLeastBuild: (build) =>
      database.write(null, [], () => ({
        value: undefined,
        writes: [query("UPDATE meta SET least_build = $1 WHERE least_build < $2", build, build)],
      })),
  };
};
