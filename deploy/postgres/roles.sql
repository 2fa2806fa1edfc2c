-- Roles of the ledger in PostgreSQL: what a worker, a person who pays or decides, and a reader need, and no more. Nobody among them
-- can create, alter or drop a table, change or delete a line of the log, or delete a write.
--
-- Run it as the owner of the schema, in the ledger's database, once the tables are there, and again after each migration. The owner
-- needs CREATEROLE the first time, or an administrator creates the three roles before:
--   psql --set=ON_ERROR_STOP=1 --file=deploy/postgres/roles.sql 'postgres://owner@db.example.com/payments'
-- The owner alone migrates and prunes. Then make a login for each worker and each person:
--   CREATE ROLE worker1 LOGIN PASSWORD '…' IN ROLE payments_worker;
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['payments_worker', 'payments_approver', 'payments_reader'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    END IF;
    -- What an earlier release granted, too.
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA durable_payments FROM %I', role);
  END LOOP;
END
$$;

REVOKE ALL ON SCHEMA durable_payments FROM PUBLIC;
GRANT USAGE ON SCHEMA durable_payments TO payments_worker, payments_approver, payments_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA durable_payments TO payments_worker, payments_approver, payments_reader;

SET search_path = durable_payments;

-- Sends, records outcomes, completes waits. It neither pauses nor resumes, and adds no file.
GRANT INSERT, UPDATE ON writes, runs, waits, payees, leases, meta TO payments_worker;
GRANT DELETE ON leases TO payments_worker;
GRANT INSERT ON log TO payments_worker;
GRANT UPDATE ON batches, batch_rows TO payments_worker;

-- Pays, approves, answers, cancels, pauses, recovers, sets limits: each is a line of the log.
GRANT INSERT, UPDATE ON writes, runs, waits, payees, leases, meta, batches, batch_rows TO payments_approver;
GRANT DELETE ON leases TO payments_approver;
GRANT INSERT ON log TO payments_approver;
GRANT INSERT, UPDATE, DELETE ON pauses TO payments_approver;

-- Triggers write events as their owner. Each reader numbers those that are committed; a worker delivers them.
GRANT UPDATE (number, epoch) ON events TO payments_worker, payments_approver, payments_reader;
GRANT INSERT, UPDATE ON deliveries TO payments_worker;
GRANT UPDATE ON deliveries TO payments_approver;
GRANT INSERT, DELETE ON problems TO payments_worker;

-- Only lines of the log permit money. A worker adds what it did, the starts of its own clients, and the retries of repairs: it
-- approves nothing.
ALTER TABLE log ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS reads ON log;
DROP POLICY IF EXISTS works ON log;
DROP POLICY IF EXISTS decides ON log;
CREATE POLICY reads ON log FOR SELECT TO payments_worker, payments_approver, payments_reader USING (true);
CREATE POLICY works ON log FOR INSERT TO payments_worker WITH CHECK (kind IN ('', 'start', 'amend', 'retry'));
CREATE POLICY decides ON log FOR INSERT TO payments_approver WITH CHECK (true);

RESET search_path;
