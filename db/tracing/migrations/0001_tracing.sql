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
CREATE INDEX projects_by_entity ON tracing.projects (entity);

--
-- Calls
--

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
  -- What it counted before parts were last merged into it; null: it has come at once. A merge counts what its row has become,
  -- less this: others may have changed the row since the statement began, which only the row itself knows.
  bytes_before bigint,
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
-- Which calls an object of the store belongs to.
CREATE INDEX calls_spilled_keys ON tracing.calls USING gin (jsonb_path_query_array(spilled, '$.*.key'))
  WHERE spilled IS NOT NULL;
CREATE INDEX calls_by_thread ON tracing.calls (project, thread_id) WHERE thread_id IS NOT NULL;
-- Threads are told by their turns, and these by what stands in here.
CREATE INDEX calls_by_turn ON tracing.calls (project, thread_id) INCLUDE (id, started_at, ended_at)
  WHERE id = turn_id AND thread_id IS NOT NULL AND deleted_at IS NULL;

-- What has no partition of its own: ids without a time, and times long past or far ahead.
CREATE TABLE tracing.calls_of_other_ids PARTITION OF tracing.calls FOR VALUES IN (-1);
CREATE TABLE tracing.calls_of_other_weeks PARTITION OF tracing.calls DEFAULT;
CREATE INDEX calls_of_other_weeks_by_week ON tracing.calls_of_other_weeks (week);

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

-- Objects in the artifact store that a newer payload has replaced, with the call that had them. They go when whoever reads
-- or writes them is surely through.
CREATE TABLE tracing.replaced_payloads (
  project int NOT NULL,
  week smallint NOT NULL,
  id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  size bigint NOT NULL DEFAULT 0, -- of the object, which counts until it is removed
  replaced_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, key)
);
CREATE INDEX replaced_payloads_by_age ON tracing.replaced_payloads (replaced_at);

CREATE FUNCTION tracing.note_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tracing.replaced_payloads (project, week, id, key, size)
  SELECT OLD.project, OLD.week, OLD.id, part.value ->> 'key', (part.value ->> 'size')::bigint
  FROM jsonb_each(OLD.spilled) AS part
  WHERE part.value IS DISTINCT FROM NEW.spilled -> part.key
  ON CONFLICT (project, key) DO UPDATE SET replaced_at = now();
  RETURN NULL;
END $$;
CREATE TRIGGER calls_note_replaced AFTER UPDATE ON tracing.calls FOR EACH ROW
  WHEN (OLD.spilled IS NOT NULL AND OLD.spilled IS DISTINCT FROM NEW.spilled) EXECUTE FUNCTION tracing.note_replaced();

--
-- Objects, tables and files
--

-- What is published. The row of a name orders those who publish and delete under it, and says which version is the latest
-- one: the one published last among those that are not deleted, or, when all are, the one that was it before.
CREATE TABLE tracing.objects (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('op', 'object')),
  latest text COLLATE "C" NOT NULL, -- the digest of a version
  publications bigint NOT NULL, -- how often something was published under the name
  PRIMARY KEY (project, object_id, kind)
);

-- Rows stay when a version is deleted: its index is not given again, and publishing the same value brings it back.
CREATE TABLE tracing.object_versions (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  version_index int NOT NULL,
  publication bigint NOT NULL, -- which of the name's publications was its last
  base_object_class text COLLATE "C",
  leaf_object_class text COLLATE "C",
  val json NOT NULL, -- as it came
  size int NOT NULL, -- of val, in bytes; 0 when a deleted version's value was removed, which is after a while
  wb_user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (project, object_id, kind, digest),
  UNIQUE (project, object_id, kind, version_index)
);
CREATE INDEX object_versions_created ON tracing.object_versions (project, created_at);
CREATE INDEX object_versions_to_empty ON tracing.object_versions (deleted_at) WHERE deleted_at IS NOT NULL AND size > 0;

CREATE TABLE tracing.object_tags (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, object_id, digest, tag)
);

CREATE TABLE tracing.object_aliases (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  alias text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, object_id, alias)
);

-- Rows of tables, once for all tables of a project that have them.
CREATE TABLE tracing.table_rows (
  project int NOT NULL,
  digest text COLLATE "C" NOT NULL,
  val json NOT NULL, -- as it came
  size int NOT NULL, -- of val, in bytes
  PRIMARY KEY (project, digest)
);

CREATE TABLE tracing.tables (
  project int NOT NULL,
  digest text COLLATE "C" NOT NULL,
  row_count int NOT NULL,
  PRIMARY KEY (project, digest)
);

-- The rows of a table in their order, 1,000 to a chunk: a page anywhere in it reads one or two chunks, and a table of
-- 100,000 rows is 100 of them. A digest may name no row: clients may send the order before the rows.
CREATE TABLE tracing.table_chunks (
  project int NOT NULL,
  table_digest text COLLATE "C" NOT NULL,
  chunk int NOT NULL, -- holds the positions from 1,000 * chunk on
  row_digests text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (project, table_digest, chunk)
);
-- Digests do not get smaller.
ALTER TABLE tracing.table_chunks ALTER COLUMN row_digests SET STORAGE EXTERNAL;

-- Small files lie here, larger ones in the artifact store; those are there before their row.
CREATE TABLE tracing.files (
  project int NOT NULL,
  digest text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  content bytea,
  artifact_key text, -- null: it lies here
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, digest),
  CHECK ((content IS NULL) <> (artifact_key IS NULL))
);
CREATE INDEX files_by_artifact_key ON tracing.files (artifact_key) WHERE artifact_key IS NOT NULL;

--
-- Feedback and costs
--

-- What people and scorers say of calls and objects.
CREATE TABLE tracing.feedback (
  project int NOT NULL,
  id text COLLATE "C" NOT NULL, -- may be the client's
  weave_ref text COLLATE "C" NOT NULL, -- what it is said of
  call_id text COLLATE "C", -- when that is a call of this project
  feedback_type text COLLATE "C" NOT NULL,
  payload json NOT NULL,
  creator text COLLATE "C",
  wb_user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  annotation_ref text COLLATE "C",
  runnable_ref text COLLATE "C",
  call_ref text COLLATE "C",
  trigger_ref text COLLATE "C",
  PRIMARY KEY (project, id)
);
CREATE INDEX feedback_by_ref ON tracing.feedback (project, weave_ref);
CREATE INDEX feedback_by_type ON tracing.feedback (project, feedback_type, call_id);
CREATE INDEX feedback_by_call ON tracing.feedback (project, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX feedback_by_age ON tracing.feedback (project, created_at, id);

-- What a project pays for tokens. Prices of the whole server come from a file.
CREATE TABLE tracing.costs (
  project int NOT NULL,
  id text COLLATE "C" NOT NULL,
  llm_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  effective_date timestamptz NOT NULL,
  prompt_token_cost double precision NOT NULL,
  completion_token_cost double precision NOT NULL,
  prompt_token_cost_unit text COLLATE "C",
  completion_token_cost_unit text COLLATE "C",
  cache_read_input_token_cost double precision NOT NULL,
  cache_creation_input_token_cost double precision NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project, id)
);
CREATE INDEX costs_by_llm ON tracing.costs (project, llm_id, effective_date);

--
-- What queries over traces ask of texts that clients have written
--

-- The number that a text is, as a double; null for all that is none. No text makes it fail: what is too large is
-- infinite, what is too small is 0. A text of more than 1,000 characters is no number.
CREATE FUNCTION tracing.number_or_null(written text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  exponent text;
  exact numeric;
BEGIN
  IF octet_length(written) > 1000
    OR written COLLATE "C" !~ '^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$' THEN
    RETURN NULL;
  END IF;
  -- Whatever is this short is neither too large nor too small.
  IF octet_length(written) <= 200 AND written COLLATE "C" !~ '[eE][+-]?[0-9]{3}' THEN
    RETURN written::float8;
  END IF;
  IF written COLLATE "C" !~ '^[^eE]*[1-9]' THEN
    RETURN 0;
  END IF;
  exponent := ltrim(substring(written FROM '[eE][+-]?([0-9]+)$'), '0');
  IF octet_length(exponent) > 4 THEN
    RETURN CASE WHEN written COLLATE "C" ~ '[eE]-' THEN 0::float8
      WHEN written LIKE '-%' THEN '-Infinity'::float8
      ELSE 'Infinity'::float8 END;
  END IF;
  exact := written::numeric;
  RETURN CASE WHEN abs(exact) >= 1.7976931348623158e308 THEN sign(exact) * 'Infinity'::float8
    WHEN abs(exact) <= 2.4703282292062327e-324 THEN 0
    ELSE exact::float8 END;
END $$;

-- A part of a reference, whose other characters stand as %XX. What is no UTF-8 is left as it is.
CREATE FUNCTION tracing.decode_ref_part(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF strpos(written, '%') = 0 THEN RETURN written; END IF;
  RETURN (
    SELECT convert_from(string_agg(coalesce(decode(found[1], 'hex'), convert_to(found[2], 'UTF8')), ''), 'UTF8')
    FROM regexp_matches(written, '%([0-9A-Fa-f]{2})|([^%]+|%)', 'g') AS found
  );
EXCEPTION WHEN OTHERS THEN
  RETURN written;
END $$;

-- A value, or what it refers to when it is a reference of an object of the project: the object or what lies in it at the
-- reference's path, which may lead through further references and rows of tables. Null where there is nothing.
CREATE FUNCTION tracing.look_through(of_project int, project_id text, held json) RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
  found json := held;
  uri text;
  prefix text := 'weave:///' || project_id || '/';
  parts text[];
  edges text[] := '{}';
  looks int := 0;
BEGIN
  LOOP
    uri := CASE WHEN json_typeof(found) = 'string' THEN found #>> '{}' END;
    IF starts_with(uri, prefix || 'object/') OR starts_with(uri, prefix || 'op/') THEN
      EXIT WHEN looks > 0 AND cardinality(edges) = 0;
      -- References may lead in circles.
      looks := looks + 1;
      IF looks > 16 THEN RETURN NULL; END IF;
      parts := string_to_array(substr(uri, length(prefix) + 1), '/');
      edges := parts[3:] || edges;
      SELECT v.val INTO found FROM tracing.object_versions v
        WHERE v.project = of_project AND v.kind = parts[1] AND v.deleted_at IS NULL
          AND v.object_id = tracing.decode_ref_part(split_part(parts[2], ':', 1)) AND v.digest = split_part(parts[2], ':', 2);
    ELSIF cardinality(edges) = 0 THEN
      EXIT;
    ELSE
      parts := ARRAY[edges[1], tracing.decode_ref_part(edges[2])];
      edges := edges[3:];
      IF parts[1] IN ('attr', 'key') AND json_typeof(found) = 'object' THEN
        found := found -> parts[2];
      ELSIF parts[1] = 'index' AND json_typeof(found) = 'array' AND parts[2] ~ '^[0-9]{1,9}$' THEN
        found := found -> parts[2]::int;
      ELSIF parts[1] = 'id' AND starts_with(uri, prefix || 'table/') THEN
        SELECT r.val INTO found FROM tracing.table_rows r WHERE r.project = of_project AND r.digest = parts[2];
      ELSE
        RETURN NULL;
      END IF;
    END IF;
    IF found IS NULL THEN RETURN NULL; END IF;
  END LOOP;
  RETURN found;
END $$;

--
-- Stored bytes
--

-- What projects keep, in bytes: of calls by their week, which goes with its partition, and under the week -2 of all else.
-- What was deleted counts until it is removed. Written in the transaction of what it counts, so that nobody has to add up
-- millions of rows.
CREATE TABLE tracing.stored_bytes (
  project int NOT NULL,
  week smallint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (project, week)
) WITH (fillfactor = 50);

-- Counts what a statement has added to a table and taken from it; the argument says how large a row is. Calls have none:
-- a trigger of this kind would make COPY into a partitioned table write row by row.
CREATE FUNCTION tracing.count_stored() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  size text := TG_ARGV[0];
  changed text := CASE TG_OP
    WHEN 'INSERT' THEN format('SELECT project, %s AS bytes FROM added', size)
    WHEN 'DELETE' THEN format('SELECT project, -(%s) AS bytes FROM removed', size)
    ELSE format('SELECT project, %1$s AS bytes FROM added UNION ALL SELECT project, -(%1$s) FROM removed', size) END;
BEGIN
  EXECUTE format(
    'INSERT INTO tracing.stored_bytes AS s (project, week, bytes)
     SELECT project, -2, sum(bytes) FROM (%s) AS changed GROUP BY project HAVING sum(bytes) <> 0 ORDER BY project
     ON CONFLICT (project, week) DO UPDATE SET bytes = greatest(s.bytes + excluded.bytes, 0)', changed);
  RETURN NULL;
END $$;

DO $$
DECLARE
  counted record;
BEGIN
  FOR counted IN SELECT * FROM (VALUES
    ('object_versions', 'size'),
    ('table_rows', 'size'),
    -- A digest has some 44 bytes.
    ('tables', 'row_count * 44::bigint'),
    ('files', 'size'),
    ('feedback', 'octet_length(payload::text)')
  ) AS t (name, size) LOOP
    EXECUTE format('CREATE TRIGGER count_added AFTER INSERT ON tracing.%I REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION tracing.count_stored(%L)', counted.name, counted.size);
    EXECUTE format('CREATE TRIGGER count_changed AFTER UPDATE ON tracing.%I
      REFERENCING NEW TABLE AS added OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION tracing.count_stored(%L)', counted.name, counted.size);
    EXECUTE format('CREATE TRIGGER count_removed AFTER DELETE ON tracing.%I REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION tracing.count_stored(%L)', counted.name, counted.size);
  END LOOP;
END $$;

--
-- The artifact store
--

-- The same as in the training schema, which may lie in another database.
CREATE TABLE tracing.store_marks (
  mark uuid PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tracing.held_keys (
  key text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  held_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '6 hours',
  PRIMARY KEY (key, holder)
);
CREATE INDEX held_keys_by_age ON tracing.held_keys (held_at);
