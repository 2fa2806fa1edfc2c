import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import {
  type Ledger,
  type Look,
  openLedger,
  readLedgerPlace,
  type WriteName,
  type WriteRow,
} from "@durable-payments/ledger";
import { rowOf } from "../row.ts";
import { interleave, type Scenario } from "../scenario.ts";
import { startPostgres, temporaryFolder } from "../workflows/world.ts";

const CONCURRENCY = 16;

const sending = (name: WriteName, { epoch, now }: Look): WriteRow => ({
  ...name,
  operation: "createPayout",
  state: "sending",
  version: 0,
  knownFrom: 1,
  epoch,
  generation: 1,
  request: {
    hash: name.workflowId,
    amount: "250.00",
    currency: "USD",
    payee: "B-1",
    reference: "Invoice 17",
    facts: {},
  },
  doubt: 0,
  token: `${epoch}:${name.workflowId}`,
  runId: name.workflowId,
  sends: 1,
  firstSentAt: now,
  from: now,
  until: null,
  absences: 0,
  unprovableSince: null,
  madeId: null,
  result: null,
  knownBy: null,
  message: null,
  question: null,
  startedBy: null,
  decisionsAfter: 0,
  isUntold: false,
  createdAt: now,
  changedAt: now,
});

const perSecond = async (count: number, work: () => Promise<void>): Promise<number> => {
  let left = count;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left-- > 0) await work();
    }),
  );
  return count / ((performance.now() - began) / 1000);
};

/** A write as it usually goes: a row as it is sent, and the same row as it is done. */
const writeOnce = async (ledger: Ledger): Promise<void> => {
  const name = { account: "bench", workflowId: randomUUID(), step: "createPayout" };
  const entry = { who: "bench", what: "sent", details: {} };
  await ledger.transact(name, (look) => ({ row: sending(name, look), entries: [entry] }));
  const done = { state: "done", madeId: name.workflowId, result: {}, knownBy: "answer" } as const;
  await ledger.transact(name, (look) => ({
    row: { ...sending(name, look), ...look.row, ...done },
  }));
};

/** Writes a second, each of two transactions that are on the disk when they resolve. */
export const scenario: Scenario = async (context) => {
  const { defer } = context;
  const folder = await temporaryFolder(defer);
  const postgres = await startPostgres(context);
  const open = async (place: string) => {
    const ledger = await openLedger(readLedgerPlace(place, "bench"));
    defer(() => ledger.close());
    return ledger;
  };
  const sqlite = await open(`sqlite:${join(folder, "ledger.sqlite")}`);
  const ofPostgres = postgres && (await open(postgres));
  const plain = new DatabaseSync(join(folder, "plain.sqlite"));
  defer(() => plain.close());
  plain.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  plain.exec("CREATE TABLE rows (id TEXT PRIMARY KEY, state TEXT)");
  const insert = plain.prepare("INSERT INTO rows VALUES (?, 'sending')");
  const update = plain.prepare("UPDATE rows SET state = 'done' WHERE id = ?");
  const count = context.quick ? 200 : 2_000;
  const measures: Record<string, () => Promise<number>> = {
    sqlite: () => perSecond(count, () => writeOnce(sqlite)),
    plain: () =>
      perSecond(count, async () => {
        const id = randomUUID();
        insert.run(id);
        update.run(id);
      }),
    ...(ofPostgres && { postgres: () => perSecond(count, () => writeOnce(ofPostgres)) }),
  };
  await interleave(measures, 1, { ...context, progress: () => {} });
  const readings = await interleave(measures, context.quick ? 3 : 11, context);
  const unit = `writes a second, ${CONCURRENCY} at once`;
  return [
    rowOf({
      name: "ledger: SQLite against plain commits to a file",
      unit,
      ours: readings["sqlite"] ?? [],
      baseline: readings["plain"] ?? [],
    }),
    ...(readings["postgres"]
      ? [
          rowOf({
            name: "ledger: PostgreSQL against SQLite",
            unit,
            ours: readings["postgres"],
            baseline: readings["sqlite"] ?? [],
          }),
        ]
      : []),
  ];
};
