-- Traces. No foreign key and no query leads out of this schema: it may have a database of its own.

CREATE SCHEMA tracing;

CREATE TABLE tracing.projects (
  number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  entity text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How long its calls are kept; null: as the installation says.
  retention_days int CHECK (retention_days > 0),
  -- It is being erased: nobody finds it any more, and one that begins with its name is another.
  closed_at timestamptz
);
CREATE UNIQUE INDEX projects_by_name ON tracing.projects (entity, name) WHERE closed_at IS NULL;

-- One row for each call: the union of its start and its end, which come in any order. While only its end (or its new
-- name, or its deletion) has come, started_at is null, and nobody sees it.
--
-- `week` is computed from the id alone: the week of the time in a UUIDv7, -1 for all other ids. So each id has its one
-- partition, however often and in whatever order its parts come, and (project, id) is unique over all of them.
CREATE TABLE tracing.calls (
  week smallint NOT NULL,
  project int NOT NULL,
  id text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C",
  parent_id text COLLATE "C",
  thread_id text COLLATE "C",
  turn_id text COLLATE "C",
  op_name text COLLATE "C",
  display_name text COLLATE "C",
  renamed boolean NOT NULL DEFAULT false,
  started_at timestamptz,
  ended_at timestamptz,
  exception text COLLATE "C",
  attributes json,
  inputs json,
  output json,
  summary json,
  otel_dump json,
  input_refs text[] COLLATE "C",
  output_refs text[] COLLATE "C",
  descendant_errors boolean NOT NULL DEFAULT false,
  wb_user_id text COLLATE "C",
  wb_run_id text COLLATE "C",
  wb_run_step bigint,
  wb_run_step_end bigint,
  -- Bytes of the payloads, of those in the artifact store too.
  start_size int NOT NULL DEFAULT 0,
  end_size int NOT NULL DEFAULT 0,
  -- Payloads too large for a row: by column the key of an object in the artifact store, and its size.
  spilled jsonb,
  deleted_at timestamptz,
  PRIMARY KEY (project, id, week)
) PARTITION BY LIST (week);

-- Calls that anybody sees, in the order of time, which is how they are listed. They are counted from this alone.
CREATE INDEX calls_in_time ON tracing.calls (project, started_at, id)
  WHERE started_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX calls_of_trace ON tracing.calls (project, trace_id);
-- What is to go: hardly any call is in these.
CREATE INDEX calls_deleted ON tracing.calls (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX calls_not_begun ON tracing.calls (week, ended_at) WHERE started_at IS NULL;
CREATE INDEX calls_spilled ON tracing.calls (project) WHERE spilled IS NOT NULL;

-- What has no partition of its own: ids without a time, and times long past or far ahead.
CREATE TABLE tracing.calls_of_other_ids PARTITION OF tracing.calls FOR VALUES IN (-1);
CREATE TABLE tracing.calls_of_other_weeks PARTITION OF tracing.calls DEFAULT;

-- Makes the partition of a week, and moves what of it had none into it.
CREATE FUNCTION tracing.add_week(wanted int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  partition text := 'calls_w' || wanted;
BEGIN
  IF to_regclass('tracing.' || partition) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE tracing.%I (LIKE tracing.calls INCLUDING DEFAULTS)', partition);
  LOCK TABLE tracing.calls IN SHARE ROW EXCLUSIVE MODE;
  EXECUTE format('INSERT INTO tracing.%I SELECT * FROM tracing.calls_of_other_weeks WHERE week = $1', partition) USING wanted;
  DELETE FROM tracing.calls_of_other_weeks WHERE week = wanted;
  EXECUTE format('ALTER TABLE tracing.calls ATTACH PARTITION tracing.%I FOR VALUES IN (%s)', partition, wanted);
END $$;

-- The week of now, counted as the ids do: from 1970 on.
CREATE FUNCTION tracing.this_week() RETURNS int LANGUAGE sql STABLE AS $$
  SELECT floor(extract(epoch FROM now()) / 604800)::int
$$;

SELECT tracing.add_week(tracing.this_week() + n) FROM generate_series(-1, 4) AS n;
