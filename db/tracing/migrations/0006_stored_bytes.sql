-- What projects keep, in bytes: of calls by their week, which goes with its partition, and under the week -2 of all else.
-- Written in the transaction of what it counts, so that nobody has to add up millions of rows.
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
     ON CONFLICT (project, week) DO UPDATE SET bytes = s.bytes + excluded.bytes', changed);
  RETURN NULL;
END $$;

DO $$
DECLARE
  counted record;
BEGIN
  FOR counted IN SELECT * FROM (VALUES
    ('object_versions', 'CASE WHEN deleted_at IS NULL THEN size ELSE 0 END'),
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
    EXECUTE format('INSERT INTO tracing.stored_bytes AS s (project, week, bytes)
      SELECT project, -2, sum(%s) FROM tracing.%I GROUP BY project
      ON CONFLICT (project, week) DO UPDATE SET bytes = s.bytes + excluded.bytes', counted.size, counted.name);
  END LOOP;
END $$;

INSERT INTO tracing.stored_bytes (project, week, bytes)
SELECT project, week, sum(start_size::bigint + end_size + coalesce(octet_length(exception), 0)) FROM tracing.calls
WHERE deleted_at IS NULL GROUP BY project, week;
