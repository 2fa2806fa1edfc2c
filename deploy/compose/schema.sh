#!/bin/sh
# Makes Temporal's databases, or brings them up to date: run again, it changes nothing.
set -eu
SQL_PASSWORD=$(cat /run/secrets/postgres_password)
export SQL_PASSWORD
for pair in temporal:temporal visibility:temporal_visibility; do
  schema=${pair%%:*}
  database=${pair#*:}
  temporal-sql-tool --database "$database" create-database
  temporal-sql-tool --database "$database" setup-schema --version 0.0 || true
  temporal-sql-tool --database "$database" update-schema --schema-name "postgresql/v12/$schema"
done
