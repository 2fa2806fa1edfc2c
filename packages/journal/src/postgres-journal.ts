import { randomUUID } from "node:crypto";
import { Pool, type PoolClient, type QueryResultRow } from "pg";
import { JournalUnavailable, messageOf } from "./errors.ts";
import type {
  Begun,
  FoundSend,
  Journal,
  KeyEcho,
  RecordedSend,
  Send,
  WriteName,
} from "./journal.ts";
import { idOf } from "./made-ids.ts";
import { forbidding, isOvertakenBy } from "./send-permission.ts";
import { preparePostgres } from "./postgres-schema.ts";
import { readPostgresUrl } from "./postgres-url.ts";
import { recordedSendOf, SEND_COLUMNS, type SendRow } from "./send-rows.ts";

/** Rows that are read at once. */
const PAGE_SIZE = 1_000;

const MOST_CONNECTIONS = 10;
const CONNECT_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 10_000;

/** The rule of `forbidding` in one statement: two workers cannot both be permitted. */
const INSERT = `
  INSERT INTO durable_payments.sends (account, ${SEND_COLUMNS})
  SELECT $1, $2, $3, $4::integer, $5, $6, $7, $8, $9, $10, $15, $11::boolean, $12, $13::bigint, 'begun', NULL, '{}'
  WHERE NOT EXISTS (
    SELECT FROM durable_payments.sends
    WHERE account = $1 AND workflow_id = $2 AND step = $3
      AND (
        number >= $4 OR (outcome = 'carriedOut' AND NOT $11)
        OR (number > $14::integer AND outcome IN ('begun', 'unknown'))
        OR (number > $14::integer AND outcome = 'undone' AND NOT $11)
      )
  )
  ON CONFLICT DO NOTHING`;

/** Another write that made the same, and not by giving two like it one beneficiary. */
const TAKEN = `SELECT workflow_id, step FROM durable_payments.sends
  WHERE account = $1 AND operation = $2 AND made_id = $3 AND outcome = 'carriedOut'
    AND (workflow_id, step) <> ($4, $5)
    AND (operation <> 'createBeneficiary' OR payee IS DISTINCT FROM $6)
  LIMIT 1`;

const PAID = `
  SELECT payee FROM durable_payments.sends
  WHERE account = $1 AND payee = ANY($2::text[])
    AND operation = 'createPayout' AND outcome = 'carriedOut'
  UNION SELECT created.payee FROM durable_payments.sends AS created
  JOIN durable_payments.sends AS payout ON payout.account = $1 AND payout.payee = created.made_id
    AND payout.operation = 'createPayout' AND payout.outcome = 'carriedOut'
  WHERE created.account = $1 AND created.payee = ANY($2::text[])
    AND created.operation = 'createBeneficiary'`;

const SENDS = `SELECT ${SEND_COLUMNS} FROM durable_payments.sends WHERE account = $1`;

/**
 * Open the journal of an account in a PostgreSQL database, whose tables it makes or brings up to
 * date.
 *
 * @param address `postgres://…`
 * @throws JournalUnavailable where the database cannot be used, or is of a later version.
 */
export const openPostgresJournal = async (address: string, account: string): Promise<Journal> => {
  const { place, ...config } = readPostgresUrl(address);
  const pool = new Pool({
    ...config,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    application_name: "durable-payments",
  });
  // A connection that breaks while nobody uses it; the next query opens another one.
  pool.on("error", () => undefined);

  const unavailable = (error: unknown): JournalUnavailable =>
    error instanceof JournalUnavailable
      ? error
      : new JournalUnavailable(
          `the journal's database ${place} cannot be used (${messageOf(error)})`,
          { cause: error },
        );
  const query = async <Row extends QueryResultRow>(
    sql: string,
    values: ReadonlyArray<unknown>,
    name?: string,
  ) => {
    const asked = { text: sql, values: [...values], ...(name !== undefined && { name }) };
    try {
      return await pool.query<Row>(asked);
    } catch (error) {
      throw unavailable(error);
    }
  };

  try {
    await preparePostgres(pool, place);
  } catch (error) {
    await pool.end();
    if (error instanceof JournalUnavailable) throw error;
    throw new JournalUnavailable(
      `the journal's database ${place} cannot be used (${messageOf(error)}); check that it runs and can be reached, and the user, password and database of PAYMENTS_JOURNAL`,
      { cause: error },
    );
  }

  const sendsOf = async ({
    step,
    workflowId,
  }: Pick<Send, "step" | "workflowId">): Promise<Array<RecordedSend>> => {
    const found = await query<SendRow>(
      `${SENDS} AND workflow_id = $2 AND step = $3 ORDER BY number`,
      [account, workflowId, step],
      "sends-of-write",
    );
    return found.rows.map(recordedSendOf);
  };

  const begin = async (send: Send): Promise<Begun> => {
    const { amount, currency, isUndone = false, key, number, payee, step, workflowId } = send;
    const { knownTo = number - 1 } = send;
    const begunBy = randomUUID();
    const inserted = await query(
      INSERT,
      [
        account,
        workflowId,
        step,
        number,
        send.operation,
        send.runId,
        key ?? null,
        send.payloadHash,
        amount ?? null,
        currency ?? null,
        isUndone,
        begunBy,
        Date.now(),
        knownTo,
        payee ?? null,
      ],
      "begin",
    );
    if (inserted.rowCount !== 1) {
      const latest = forbidding(send, await sendsOf(send));
      if (latest !== undefined) return { _tag: "AlreadySent", latest };
      // It was deleted in between, by whomever: the next try writes it.
      throw unavailable(new Error("a send was neither written nor found"));
    }
    return {
      _tag: "Begun",
      send: {
        isLatest: async () => !isOvertakenBy(send, await sendsOf(send)),
        recordOutcome: async (outcome, ids = {}) => {
          const id = idOf({ ids, operation: send.operation }) ?? null;
          await query(
            `UPDATE durable_payments.sends SET outcome = $1, ids = $2, made_id = $3, settled_at = $4
             WHERE account = $5 AND workflow_id = $6 AND step = $7 AND number = $8 AND begun_by = $9`,
            [
              outcome,
              JSON.stringify(ids),
              id,
              Date.now(),
              account,
              workflowId,
              step,
              number,
              begunBy,
            ],
            "recordOutcome",
          );
          if (outcome !== "carriedOut" || id === null) return undefined;
          // After it is written: of two that are answered with the same at the same moment one sees the other.
          const { rows } = await query<Pick<SendRow, "step" | "workflow_id">>(
            TAKEN,
            [account, send.operation, id, workflowId, step, payee ?? null],
            "taken-by-other",
          );
          const [other] = rows;
          if (other === undefined) return undefined;
          await query(
            `UPDATE durable_payments.sends SET outcome = 'unknown', ids = '{}', made_id = NULL
             WHERE account = $1 AND workflow_id = $2 AND step = $3 AND number = $4 AND begun_by = $5`,
            [account, workflowId, step, number, begunBy],
          );
          return { workflowId: other.workflow_id, step: other.step };
        },
      },
    };
  };

  const noteFound = async ({
    ids,
    operation,
    step,
    workflowId,
  }: FoundSend): Promise<WriteName | undefined> => {
    const id = idOf({ ids, operation });
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      await client.query("BEGIN");
      // Two that find the same come one after the other.
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
        JSON.stringify([account, operation, id]),
      ]);
      const { rows } = await client.query<Pick<SendRow, "step" | "workflow_id">>(
        `SELECT workflow_id, step FROM durable_payments.sends
         WHERE account = $1 AND operation = $2 AND made_id = $3 AND outcome = 'carriedOut'
           AND (workflow_id, step) <> ($4, $5)
         LIMIT 1`,
        [account, operation, id, workflowId, step],
      );
      const [other] = rows;
      if (other === undefined) {
        await client.query(
          `UPDATE durable_payments.sends
           SET outcome = 'carriedOut', ids = $1, made_id = $2, settled_at = $3
           WHERE account = $4 AND workflow_id = $5 AND step = $6 AND number = (
             SELECT max(number) FROM durable_payments.sends
             WHERE account = $4 AND workflow_id = $5 AND step = $6
               AND outcome IN ('begun', 'unknown')
           )`,
          [JSON.stringify(ids), id, Date.now(), account, workflowId, step],
        );
      }
      await client.query("COMMIT");
      client.release();
      return other && { workflowId: other.workflow_id, step: other.step };
    } catch (error) {
      // Its transaction ends with it.
      client?.release(true);
      throw unavailable(error);
    }
  };

  return {
    begin,
    noteFound,
    noteUndone: async ({ id, operation, workflowId }) => {
      await query(
        `UPDATE durable_payments.sends SET outcome = 'undone'
         WHERE account = $1 AND workflow_id = $2 AND operation = $3 AND outcome = 'carriedOut'
           AND made_id = $4`,
        [account, workflowId, operation, id],
      );
    },
    find: async ({ step, workflowId }) => {
      if (step !== undefined) return sendsOf({ step, workflowId });
      const found = await query<SendRow>(
        `${SENDS} AND workflow_id = $2 ORDER BY begun_at, step, number`,
        [account, workflowId],
      );
      return found.rows.map(recordedSendOf);
    },
    since: async function* (since) {
      let after: ReadonlyArray<unknown> = [since, "", "", 0];
      for (;;) {
        const { rows } = await query<SendRow>(
          `${SENDS} AND (begun_at, workflow_id, step, number) > ($2, $3, $4, $5)
           ORDER BY begun_at, workflow_id, step, number LIMIT ${PAGE_SIZE}`,
          [account, ...after],
        );
        yield* rows.map(recordedSendOf);
        const last = rows.at(-1);
        if (last === undefined || rows.length < PAGE_SIZE) return;
        after = [last.begun_at, last.workflow_id, last.step, last.number];
      }
    },
    madeSince: async (operation, since) => {
      const { rows } = await query<SendRow>(
        `${SENDS} AND operation = $2 AND outcome = 'carriedOut' AND settled_at >= $3 ORDER BY settled_at`,
        [account, operation, since],
      );
      return rows.map(recordedSendOf).flatMap(({ outcomeAt = 0, ...send }) => {
        const id = idOf(send);
        return id === undefined ? [] : [{ id, answeredAt: outcomeAt }];
      });
    },
    sendsTo: async (payee, since) => {
      const { rows } = await query<SendRow>(
        `${SENDS} AND payee = $2 AND begun_at >= $3 ORDER BY begun_at, workflow_id, step, number`,
        [account, payee, since],
      );
      return rows.map(recordedSendOf);
    },
    paidAmong: async (payees) => {
      const { rows } = await query<{ readonly payee: string }>(PAID, [account, payees]);
      return new Set(rows.map(({ payee }) => payee));
    },
    isOfProcess: false,
    noteKeyEcho: async (operation, echo) => {
      await query(
        `INSERT INTO durable_payments.key_echoes AS known VALUES ($1, $2, $3, 1)
         ON CONFLICT (account, operation, echo) DO UPDATE SET answers = known.answers + 1`,
        [account, operation, echo],
        "note-echo",
      );
    },
    keyEcho: async (operation) => {
      const { rows } = await query<{ readonly echo: string; readonly answers: string }>(
        "SELECT echo, answers FROM durable_payments.key_echoes WHERE account = $1 AND operation = $2",
        [account, operation],
      );
      const counted: Record<keyof KeyEcho, number> = { same: 0, other: 0, none: 0 };
      for (const { answers, echo } of rows) {
        if (echo === "same" || echo === "other" || echo === "none") counted[echo] = Number(answers);
      }
      return counted;
    },
    noteListLag: async (list, lagMs) => {
      await query(
        `INSERT INTO durable_payments.list_lags AS known VALUES ($1, $2, $3)
         ON CONFLICT (account, list) DO UPDATE SET lag_ms = greatest(known.lag_ms, excluded.lag_ms)`,
        [account, list, Math.round(lagMs)],
      );
    },
    listLag: async (list) => {
      const { rows } = await query<{ readonly lag_ms: string }>(
        "SELECT lag_ms FROM durable_payments.list_lags WHERE account = $1 AND list = $2",
        [account, list],
      );
      return Number(rows[0]?.lag_ms ?? 0);
    },
    close: () => pool.end(),
  };
};
