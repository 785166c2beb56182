-- The project of the entity that records the chats of a key; 'off' records none. Null: for a key, what is set for its
-- entity; for an entity, none.
ALTER TABLE auth.api_keys ADD COLUMN trace_project text;
ALTER TABLE auth.entities ADD COLUMN trace_project text;

CREATE OR REPLACE FUNCTION training.notify_keys_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change(tag) FROM (
    SELECT DISTINCT CASE WHEN count(*) OVER (PARTITION BY b.entity) > training.max_change_tags()
      THEN 'entity:' || b.entity ELSE 'key:' || b.id END AS tag
    FROM old_rows b JOIN new_rows a USING (id)
    WHERE (b.digest, b.entity, b.role, b.revoked_at, b.expires_at, b.trace_project)
      IS DISTINCT FROM (a.digest, a.entity, a.role, a.revoked_at, a.expires_at, a.trace_project)
  ) AS tags;
  RETURN NULL;
END
$$;

DROP TRIGGER limits_updated ON auth.entities;
CREATE TRIGGER limits_updated AFTER UPDATE ON auth.entities FOR EACH ROW
  WHEN (
    (OLD.requests_per_minute, OLD.tokens_per_minute, OLD.concurrent_streams, OLD.event_streams, OLD.stored_bytes,
     OLD.weight, OLD.trace_project) IS DISTINCT FROM
    (NEW.requests_per_minute, NEW.tokens_per_minute, NEW.concurrent_streams, NEW.event_streams, NEW.stored_bytes,
     NEW.weight, NEW.trace_project)
  )
  EXECUTE FUNCTION training.notify_entity();
