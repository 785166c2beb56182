#!/bin/bash
# Makes the database at the first start, and runs the server.
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth=scram-sha-256 \
    --auth-local=trust --encoding=UTF8 --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --options='-c listen_addresses=' --wait start
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --pgdata="$PGDATA" --wait stop
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
