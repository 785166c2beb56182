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
  closed_at timestamptz,
  -- When it was. The number is kept for a while: whoever still writes under it has that erased too.
  erased_at timestamptz
);
CREATE UNIQUE INDEX projects_by_name ON tracing.projects (entity, name) WHERE closed_at IS NULL;

-- One row for each call: the union of its start and its end, which come in any order. While only its end (or its new
-- name) has come, started_at is null, and nobody sees it.
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
  -- Of a call that has not begun: when the last of it came.
  waiting_since timestamptz,
  PRIMARY KEY (project, id, week)
) PARTITION BY LIST (week);

-- Calls that anybody sees, in the order of time, which is how they are listed. They are counted from this alone.
CREATE INDEX calls_in_time ON tracing.calls (project, started_at, id)
  WHERE started_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX calls_of_trace ON tracing.calls (project, trace_id);
-- What is to go: hardly any call is in these.
CREATE INDEX calls_deleted ON tracing.calls (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX calls_not_begun ON tracing.calls (waiting_since) WHERE waiting_since IS NOT NULL;
CREATE INDEX calls_spilled ON tracing.calls (project) WHERE spilled IS NOT NULL;

-- What has no partition of its own: ids without a time, and times long past or far ahead.
CREATE TABLE tracing.calls_of_other_ids PARTITION OF tracing.calls FOR VALUES IN (-1);
CREATE TABLE tracing.calls_of_other_weeks PARTITION OF tracing.calls DEFAULT;
CREATE INDEX calls_of_other_weeks_by_week ON tracing.calls_of_other_weeks (week);

-- Objects in the artifact store that a newer payload has replaced, with the call that had them. They go when whoever reads
-- or writes them is surely through.
CREATE TABLE tracing.replaced_payloads (
  project int NOT NULL,
  week smallint NOT NULL,
  id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  replaced_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, key)
);
CREATE INDEX replaced_payloads_by_age ON tracing.replaced_payloads (replaced_at);

CREATE FUNCTION tracing.note_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tracing.replaced_payloads (project, week, id, key)
  SELECT OLD.project, OLD.week, OLD.id, part.value ->> 'key' FROM jsonb_each(OLD.spilled) AS part
  WHERE part.value IS DISTINCT FROM NEW.spilled -> part.key
  ON CONFLICT (project, key) DO UPDATE SET replaced_at = now();
  RETURN NULL;
END $$;
CREATE TRIGGER calls_note_replaced AFTER UPDATE ON tracing.calls FOR EACH ROW
  WHEN (OLD.spilled IS NOT NULL AND OLD.spilled IS DISTINCT FROM NEW.spilled) EXECUTE FUNCTION tracing.note_replaced();

-- Makes the partition of a week, and moves what of it had none into it. Writers wait meanwhile, for as long as all calls of
-- other weeks take to be looked through.
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
