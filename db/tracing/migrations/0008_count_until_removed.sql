-- What was deleted lies here until it is removed, and counts until then.

-- What a call counted before parts were last merged into it; null: it has come at once. A merge counts what its row has
-- become, less this: others may have changed the row since the statement began, which only the row itself knows.
ALTER TABLE tracing.calls ADD COLUMN bytes_before bigint;

-- Of the object in the artifact store, which counts until it is removed too.
ALTER TABLE tracing.replaced_payloads ADD COLUMN size bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION tracing.note_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tracing.replaced_payloads (project, week, id, key, size)
  SELECT OLD.project, OLD.week, OLD.id, part.value ->> 'key', (part.value ->> 'size')::bigint
  FROM jsonb_each(OLD.spilled) AS part
  WHERE part.value IS DISTINCT FROM NEW.spilled -> part.key
  ON CONFLICT (project, key) DO UPDATE SET replaced_at = now();
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION tracing.count_stored() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- The values of deleted versions are removed after a while; size is 0 from then on.
CREATE INDEX object_versions_to_empty ON tracing.object_versions (deleted_at) WHERE deleted_at IS NOT NULL AND size > 0;

DROP TRIGGER count_added ON tracing.object_versions;
DROP TRIGGER count_changed ON tracing.object_versions;
DROP TRIGGER count_removed ON tracing.object_versions;
CREATE TRIGGER count_added AFTER INSERT ON tracing.object_versions REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tracing.count_stored('size');
CREATE TRIGGER count_changed AFTER UPDATE ON tracing.object_versions
  REFERENCING NEW TABLE AS added OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION tracing.count_stored('size');
CREATE TRIGGER count_removed AFTER DELETE ON tracing.object_versions REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION tracing.count_stored('size');

INSERT INTO tracing.stored_bytes AS s (project, week, bytes)
SELECT project, week, sum(bytes) FROM (
  SELECT project, week, start_size::bigint + end_size + coalesce(octet_length(exception), 0) AS bytes
  FROM tracing.calls WHERE deleted_at IS NOT NULL
  UNION ALL SELECT project, -2, size FROM tracing.object_versions WHERE deleted_at IS NOT NULL
) AS deleted GROUP BY project, week
ON CONFLICT (project, week) DO UPDATE SET bytes = s.bytes + excluded.bytes;

CREATE INDEX projects_by_entity ON tracing.projects (entity);
