-- Gateways keep keys, limits and models in memory. These notifications say what has changed of them: `key:ID`,
-- `entity:NAME`, `model:ENTITY/PROJECT/NAME`, `base-models`, or `all`. db/changes.ts listens.
CREATE FUNCTION training.notify_change(tag text) RETURNS void LANGUAGE sql AS $$
  -- Postgres takes less than 8000 bytes.
  SELECT pg_notify('changes', CASE WHEN octet_length(tag) < 4000 THEN tag ELSE 'all' END)
$$;

-- A statement that changes more than this many keys or models of an entity is told in one word.
CREATE FUNCTION training.max_change_tags() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 100';

CREATE FUNCTION training.notify_models(ids uuid[]) RETURNS void LANGUAGE sql AS $$
  SELECT training.notify_change(tag) FROM (
    SELECT DISTINCT CASE WHEN count(*) OVER (PARTITION BY entity) > training.max_change_tags() THEN 'entity:' || entity
      ELSE 'model:' || entity || '/' || project || '/' || name END AS tag
    FROM training.models WHERE id = ANY (ids)
  ) AS tags
$$;

CREATE FUNCTION training.notify_keys_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change(tag) FROM (
    SELECT DISTINCT CASE WHEN count(*) OVER (PARTITION BY b.entity) > training.max_change_tags()
      THEN 'entity:' || b.entity ELSE 'key:' || b.id END AS tag
    FROM old_rows b JOIN new_rows a USING (id)
    WHERE (b.digest, b.entity, b.role, b.revoked_at, b.expires_at)
      IS DISTINCT FROM (a.digest, a.entity, a.role, a.revoked_at, a.expires_at)
  ) AS tags;
  RETURN NULL;
END
$$;
CREATE TRIGGER keys_updated AFTER UPDATE ON auth.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_keys_updated();

-- A new key was asked for by nobody, so that only its removal is told. Equal notifications of a transaction are sent once.
CREATE FUNCTION training.notify_entity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('entity:' || coalesce(NEW.entity, OLD.entity));
  RETURN NULL;
END
$$;
CREATE TRIGGER keys_deleted AFTER DELETE ON auth.api_keys FOR EACH ROW EXECUTE FUNCTION training.notify_entity();
CREATE TRIGGER limits_added_or_removed AFTER INSERT OR DELETE ON auth.entities
  FOR EACH ROW EXECUTE FUNCTION training.notify_entity();
CREATE TRIGGER limits_updated AFTER UPDATE ON auth.entities FOR EACH ROW
  WHEN (
    (OLD.requests_per_minute, OLD.concurrent_streams, OLD.event_streams, OLD.stored_bytes, OLD.weight) IS DISTINCT FROM
    (NEW.requests_per_minute, NEW.concurrent_streams, NEW.event_streams, NEW.stored_bytes, NEW.weight)
  )
  EXECUTE FUNCTION training.notify_entity();

CREATE FUNCTION training.notify_base_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('base-models');
  RETURN NULL;
END
$$;
CREATE TRIGGER base_models_changed AFTER INSERT OR UPDATE OR DELETE ON training.base_models
  FOR EACH ROW EXECUTE FUNCTION training.notify_base_models();

CREATE FUNCTION training.notify_models_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(id)) FROM new_rows;
  RETURN NULL;
END
$$;
CREATE TRIGGER models_inserted AFTER INSERT ON training.models REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_inserted();
-- Whoever removes rows has marked them as deleted before. This is for people who do not.
CREATE TRIGGER models_removed AFTER DELETE ON training.models FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION training.notify_entity();

CREATE FUNCTION training.notify_models_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Names never change.
  PERFORM training.notify_models(array_agg(id)) FROM old_rows b JOIN new_rows a USING (id)
  WHERE (b.base_model, b.hidden_at, b.deleted_at) IS DISTINCT FROM (a.base_model, a.hidden_at, a.deleted_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER models_updated AFTER UPDATE ON training.models REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_updated();

CREATE FUNCTION training.notify_models_of_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(model_id)) FROM changed_rows;
  RETURN NULL;
END
$$;
CREATE TRIGGER checkpoints_inserted AFTER INSERT ON training.checkpoints REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();
CREATE TRIGGER aliases_inserted AFTER INSERT ON training.aliases REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();
CREATE TRIGGER aliases_updated AFTER UPDATE ON training.aliases REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();
CREATE TRIGGER aliases_deleted AFTER DELETE ON training.aliases REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();

CREATE FUNCTION training.notify_checkpoints_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(a.model_id)) FROM old_rows b JOIN new_rows a USING (id)
  WHERE (b.step, b.deleted_at) IS DISTINCT FROM (a.step, a.deleted_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER checkpoints_updated AFTER UPDATE ON training.checkpoints
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_checkpoints_updated();

CREATE FUNCTION training.notify_checkpoints_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(model_id)) FROM old_rows WHERE deleted_at IS NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER checkpoints_deleted AFTER DELETE ON training.checkpoints REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_checkpoints_deleted();
