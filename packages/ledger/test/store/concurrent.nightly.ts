import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Ledger, LedgerUnavailable, type WriteRow } from "../../src/index.ts";
import { openPostgres } from "../../src/store/postgres-database.ts";
import { refreshEnds } from "../../src/store/run-status.ts";
import { Store } from "../../src/store/store.ts";
import { query } from "../../src/store/table.ts";
import { expectFolded, readFeed } from "../support/feed.ts";
import { openAt, startServer, type TestServer } from "../support/postgres.ts";
import { ADA, decisionOf, made, nameOf, runOf, saving, startOf } from "../support/rows.ts";

/*
 * Three workers change the same few payments at the same time, by everything that a ledger can do, and their connections
 * break. Whatever the order was: no log is broken, each status and standing is what its facts say, the feed tells the last
 * state of everything and repeats none, and each open wait is read, by itself or with its payout.
 */

const ACCOUNT = "account-1";
const IDS = ["run-0", "run-1"] as const;
const KEYS = ["payout/key-0"] as const;
const ROUNDS = 60;
const AT_ONCE = 16;

const QUESTION = { id: "q", reason: "?", candidates: [], account: null, since: 0 };

/** The same numbers for a seed. */
const drawn = (seed: number) => {
  let state = seed * 7_919;
  return <A>(values: ReadonlyArray<A>): A => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return values[(state >> 8) % values.length] as A;
  };
};

/** Returns a function that does one thing with a drawn ledger and id. */
const doing = (ledgers: ReadonlyArray<Ledger>, draw: ReturnType<typeof drawn>) => {
  const runs = ["r-0", "r-1", "r-2"] as const;
  return async (): Promise<unknown> => {
    const ledger = draw(ledgers);
    const [workflowId, other, runId] = [draw(IDS), draw(IDS), draw(runs)];
    const isKey = draw([true, false, false]);
    const name = nameOf({ workflowId: isKey ? draw(KEYS) : workflowId });
    const owner = isKey ? { ownerId: workflowId, rootId: other } : undefined;
    const id = `P-${name.workflowId}`;
    const open = () => ledger.waits({ account: ACCOUNT, isOpen: true });
    const wait = { account: ACCOUNT, workflowId, runId, thing: id };
    const states: ReadonlyArray<Partial<WriteRow>> = [
      { state: "ready" },
      { state: "sending" },
      { state: "unknown", doubt: 1 },
      made(id),
      { state: "refused", message: "no" },
      { state: "asking", question: { ...QUESTION, kind: "outcome" } },
    ];
    const write = () => {
      const to = { ...draw(states), ...owner, runId };
      const change = (look: Parameters<ReturnType<typeof saving>>[0]) =>
        look.row?.state === "done" ? {} : { ...saving(name, to)(look), workflowType: "payout" };
      return ledger.transact(name, change, owner);
    };
    const saw = () => {
      const outcome = draw(["completed", "failed", "returned", null] as const);
      const seen = { word: outcome ?? "word", outcome, asks: false, problem: null };
      return ledger.sawPayout(ACCOUNT, id, seen);
    };
    const end = (of: string) => ({
      workflowId: of,
      runId: draw(runs),
      endState: draw(["failed", "succeeded", null, "missing", "terminated"] as const),
      endedAt: 5,
      endType: null,
      endReason: null,
    });
    return draw<() => Promise<unknown>>([
      () => ledger.recordStart(runOf({ workflowId, runId }), startOf()),
      write,
      write,
      write,
      saw,
      saw,
      () => ledger.readSoon([ACCOUNT], id),
      () => ledger.openWait({ ...wait, activityId: `awaitPayout:${id}`, kind: "payout" }),
      () => ledger.openWait({ ...wait, activityId: `awaitReturn:${id}`, kind: "return" }),
      async () => ledger.readWaits((await open()).map((one) => ({ wait: one, problem: null }))),
      async () => {
        const some = (await open()).slice(0, 3);
        await ledger.closeWaits(some.map((one) => ({ ...one, outcome: { outcome: "completed" } })));
      },
      () => ledger.recordEnds([end(workflowId), end(other)]),
      () => ledger.reopenRun(workflowId, draw(runs), runId),
      () => ledger.decide(decisionOf({ workflowId, kind: draw(["end", "overrule"] as const) })),
      () => ledger.decideWord(ACCOUNT, "word", draw(["completed", "open", "failed"] as const), ADA),
      () => readFeed(ledger),
    ])();
  };
};

describe("workers that change the same payments", skippedBecause(whyNoPostgres()), () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  it.each(
    Array.from({ length: 10 }, (_, seed) => [seed + 1, seed % 2 === 0 ? "break" : "hold"] as const),
  )("leave everything as its facts say: draw %i, connections %s", async (seed, connections) => {
    const database = `concurrent_${seed}`;
    const address = await server.create(database, "search_path = durable_payments");
    const open = () => openAt(address, { watchedForMs: 0 });
    const ledgers = [await open(), await open(), await open()];
    onTestFinished(() => Promise.all(ledgers.map((one) => one.close())).then(() => undefined));
    const doOne = doing(ledgers, drawn(seed));
    for (let round = 0; round < ROUNDS; round++) {
      const all = Array.from({ length: AT_ONCE }, () =>
        doOne().catch((error: unknown) => {
          if (!(error instanceof LedgerUnavailable)) throw error;
        }),
      );
      if (connections === "break" && round % 4 === 1)
        await server.sql(
          "postgres",
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
        );
      await Promise.all(all);
    }
    const [ledger] = ledgers;
    if (ledger === undefined) throw new Error("It was opened.");
    for (const id of [...IDS, ...KEYS])
      expect(await ledger.verify(id)).toMatchObject({ isIntact: true });
    const runs = await ledger.runs({});
    await expectFolded(ledger, runs);
    const store = new Store(await openPostgres(address.replace(/^postgresql:/, "postgres:"), {}), {
      seal: (text) => text,
      open: (text) => text,
    });
    onTestFinished(() => store.database.close());
    const facts = () =>
      store.find(
        query("SELECT workflow_id, status, planned FROM runs ORDER BY 1"),
        query("SELECT workflow_id, step, standing FROM writes ORDER BY 1, 2"),
        query("SELECT workflow_id, run_id, activity_id, is_left FROM waits ORDER BY 1, 2, 3"),
      );
    const before = await facts();
    await store.save(
      null,
      refreshEnds(
        store,
        runs.map(({ workflowId }) => workflowId),
      ),
    );
    expect(await facts()).toEqual(before);
    const unread = query(
      `SELECT * FROM waits WHERE closed_at IS NULL AND read_after IS NULL AND NOT EXISTS (SELECT 1 FROM writes
       WHERE made_id = thing AND writes.read_after IS NOT NULL
       AND (standing = 'made' OR (waits.kind = 'return' AND standing = 'completed')))`,
    );
    expect(await store.find(unread)).toEqual([]);
  });
});
