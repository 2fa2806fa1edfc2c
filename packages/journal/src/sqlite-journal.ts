import { randomUUID } from "node:crypto";
import type { SQLInputValue } from "node:sqlite";
import { JournalUnavailable, messageOf } from "./errors.ts";
import type { Begun, Journal, KeyEcho, RecordedSend, Send, WriteName } from "./journal.ts";
import { idOf } from "./made-ids.ts";
import { forbidding, isOvertakenBy, latestUnknown } from "./send-permission.ts";
import { recordedSendOf, SEND_COLUMNS, type SendRow } from "./send-rows.ts";
import { openSqliteFile } from "./sqlite-file.ts";
import { SqliteWrites } from "./sqlite-writes.ts";

/** Rows that are read at once. */
const PAGE_SIZE = 1_000;

const writeNameOf = (row: Readonly<Record<string, unknown>>): WriteName => ({
  workflowId: String(row["workflow_id"]),
  step: String(row["step"]),
});

/**
 * Open the journal of an account in a SQLite file. Processes of one host may share the file.
 *
 * @throws JournalUnavailable where the file cannot be used, or is of a later version.
 */
export const openSqliteJournal = (file: string, account: string): Journal => {
  const { database, isInPlace } = openSqliteFile(file);
  const writes = new SqliteWrites(database, file);

  const statement = (sql: string) => database.prepare(sql);
  const insert = statement(
    `INSERT INTO sends (account, ${SEND_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'begun', NULL, '{}')`,
  );
  const ofWrite = statement(
    `SELECT ${SEND_COLUMNS} FROM sends WHERE account = ? AND workflow_id = ? AND step = ? ORDER BY number`,
  );
  const ofWorkflow = statement(
    `SELECT ${SEND_COLUMNS} FROM sends WHERE account = ? AND workflow_id = ? ORDER BY begun_at, rowid`,
  );
  const writeOutcome = statement(
    "UPDATE sends SET outcome = ?, ids = ?, made_id = ?, settled_at = ? WHERE account = ? AND workflow_id = ? AND step = ? AND number = ? AND begun_by = ?",
  );
  const undone = statement(
    "UPDATE sends SET outcome = 'undone' WHERE account = ? AND workflow_id = ? AND operation = ? AND outcome = 'carriedOut' AND made_id = ?",
  );
  const madeByOther = statement(
    "SELECT workflow_id, step FROM sends WHERE account = ? AND operation = ? AND made_id = ? AND outcome = 'carriedOut' AND (workflow_id, step) <> (?, ?) LIMIT 1",
  );
  const takenByOther = statement(
    "SELECT workflow_id, step FROM sends WHERE account = ? AND operation = ? AND made_id = ? AND outcome = 'carriedOut' AND (workflow_id, step) <> (?, ?) AND (operation <> 'createBeneficiary' OR payee IS NOT ?) LIMIT 1",
  );
  const found = statement(
    "UPDATE sends SET outcome = 'carriedOut', ids = ?, made_id = ?, settled_at = ? WHERE account = ? AND workflow_id = ? AND step = ? AND number = ?",
  );
  const page = statement(
    `SELECT rowid, ${SEND_COLUMNS} FROM sends WHERE account = ?1 AND (begun_at, rowid) > (?2, ?3) ORDER BY begun_at, rowid LIMIT ${PAGE_SIZE}`,
  );
  const made = statement(
    `SELECT ${SEND_COLUMNS} FROM sends WHERE account = ? AND operation = ? AND outcome = 'carriedOut' AND settled_at >= ? ORDER BY settled_at`,
  );
  const toPayee = statement(
    `SELECT ${SEND_COLUMNS} FROM sends WHERE account = ? AND payee = ? AND begun_at >= ? ORDER BY begun_at, rowid`,
  );
  const paid = statement(
    `SELECT payee FROM sends
     WHERE account = ?1 AND payee IN (SELECT value FROM json_each(?2))
       AND operation = 'createPayout' AND outcome = 'carriedOut'
     UNION SELECT created.payee FROM sends AS created
     JOIN sends AS payout ON payout.account = ?1 AND payout.payee = created.made_id
       AND payout.operation = 'createPayout' AND payout.outcome = 'carriedOut'
     WHERE created.account = ?1 AND created.payee IN (SELECT value FROM json_each(?2))
       AND created.operation = 'createBeneficiary'`,
  );
  const countEcho = statement(
    "INSERT INTO key_echoes VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET answers = answers + 1",
  );
  const echoes = statement(
    "SELECT echo, answers FROM key_echoes WHERE account = ? AND operation = ?",
  );
  const keepLag = statement(
    "INSERT INTO list_lags VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET lag_ms = max(lag_ms, excluded.lag_ms)",
  );
  const lag = statement("SELECT lag_ms FROM list_lags WHERE account = ? AND list = ?");

  /** Another file in its place would know nothing of what was written here. */
  const check = () => {
    if (!isInPlace()) {
      throw new JournalUnavailable(
        `the journal's file ${file} was moved, removed or replaced while it was in use: put it back and restart the worker (docs/disaster-recovery.md, where it is lost)`,
      );
    }
  };
  const reading = async <A>(read: () => A): Promise<A> => {
    try {
      check();
      return read();
    } catch (error) {
      if (error instanceof JournalUnavailable) throw error;
      throw new JournalUnavailable(
        `the journal's file ${file} cannot be read (${messageOf(error)})`,
        { cause: error },
      );
    }
  };
  const writing = async <A>(write: () => A): Promise<A> => {
    check();
    return writes.write(write);
  };

  // The columns are those of the statement.
  const rows = (found: ReadonlyArray<unknown>) => found as ReadonlyArray<SendRow>;
  const sendsOf = ({ step, workflowId }: Pick<Send, "step" | "workflowId">) =>
    rows(ofWrite.all(account, workflowId, step)).map(recordedSendOf);

  const insertSend = (send: Send, begunBy: string): RecordedSend | undefined => {
    const forbids = forbidding(send, sendsOf(send));
    if (forbids !== undefined) return forbids;
    const { amount = null, currency = null, isUndone = false, key = null, payee = null } = send;
    const values: ReadonlyArray<SQLInputValue> = [
      send.workflowId,
      send.step,
      send.number,
      send.operation,
      send.runId,
      key,
      send.payloadHash,
      amount,
      currency,
      payee,
      isUndone ? 1 : 0,
      begunBy,
      Date.now(),
    ];
    insert.run(account, ...values);
    return undefined;
  };

  const begin = async (send: Send): Promise<Begun> => {
    const begunBy = randomUUID();
    const latest = await writing(() => insertSend(send, begunBy));
    if (latest !== undefined) return { _tag: "AlreadySent", latest };
    const { number, step, workflowId } = send;
    return {
      _tag: "Begun",
      send: {
        isLatest: () => reading(() => !isOvertakenBy(send, sendsOf(send))),
        recordOutcome: (outcome, ids = {}) =>
          writing(() => {
            const { operation, payee = null } = send;
            const id = idOf({ ids, operation }) ?? null;
            const other =
              outcome === "carriedOut"
                ? takenByOther.get(account, operation, id, workflowId, step, payee)
                : undefined;
            if (other !== undefined) return writeNameOf(other);
            const made = [JSON.stringify(ids), id];
            writeOutcome.run(
              outcome,
              ...made,
              Date.now(),
              account,
              workflowId,
              step,
              number,
              begunBy,
            );
            return undefined;
          }),
      },
    };
  };

  return {
    begin,
    noteFound: ({ ids, operation, step, workflowId }) =>
      writing(() => {
        const id = idOf({ ids, operation }) ?? null;
        const other = madeByOther.get(account, operation, id, workflowId, step);
        if (other !== undefined) return writeNameOf(other);
        const latest = latestUnknown(sendsOf({ step, workflowId }));
        if (latest !== undefined) {
          const made = [JSON.stringify(ids), id];
          found.run(...made, Date.now(), account, workflowId, step, latest.number);
        }
        return undefined;
      }),
    noteUndone: ({ id, operation, workflowId }) =>
      writing(() => {
        undone.run(account, workflowId, operation, id);
      }),
    find: ({ step, workflowId }) =>
      reading(() =>
        step === undefined
          ? rows(ofWorkflow.all(account, workflowId)).map(recordedSendOf)
          : sendsOf({ step, workflowId }),
      ),
    since: async function* (since) {
      let after: readonly [number, number] = [since, -1];
      for (;;) {
        const [at, row] = after;
        const found = await reading(() => page.all(account, at, row));
        yield* rows(found).map(recordedSendOf);
        const last = found.at(-1);
        if (last === undefined || found.length < PAGE_SIZE) return;
        after = [Number(last["begun_at"]), Number(last["rowid"])];
      }
    },
    madeSince: (operation, since) =>
      reading(() =>
        rows(made.all(account, operation, since))
          .map(recordedSendOf)
          .flatMap(({ outcomeAt = 0, ...send }) => {
            const id = idOf(send);
            return id === undefined ? [] : [{ id, answeredAt: outcomeAt }];
          }),
      ),
    sendsTo: (payee, since) =>
      reading(() => rows(toPayee.all(account, payee, since)).map(recordedSendOf)),
    paidAmong: (payees) =>
      reading(() => {
        const asked = JSON.stringify(payees);
        return new Set(paid.all(account, asked).map(({ payee }) => String(payee)));
      }),
    isOfProcess: false,
    noteKeyEcho: (operation, echo) =>
      writing(() => {
        countEcho.run(account, operation, echo);
      }),
    keyEcho: (operation) =>
      reading(() => {
        const counted: Record<keyof KeyEcho, number> = { same: 0, other: 0, none: 0 };
        for (const { answers, echo } of echoes.all(account, operation)) {
          if (echo === "same" || echo === "other" || echo === "none")
            counted[echo] = Number(answers);
        }
        return counted;
      }),
    noteListLag: (list, lagMs) =>
      writing(() => {
        keepLag.run(account, list, Math.round(lagMs));
      }),
    listLag: (list) => reading(() => Number(lag.get(account, list)?.["lag_ms"] ?? 0)),
    close: async () => {
      if (database.isOpen) database.close();
    },
  };
};
