-- What each engine pod has said about adapters: those that it has loaded, and those that it cannot load. A pod that is
-- not Ready, or is gone, has no rows. The operator writes them.
CREATE TABLE training.engine_adapters (
  pod_name text NOT NULL,
  checkpoint_id uuid NOT NULL,
  pod_uid text NOT NULL,
  container_start text NOT NULL, -- a container that starts again has loaded nothing yet
  error text, -- why the engine cannot load it; null: it is loaded
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- since when it is loaded, or when it was last tried
  PRIMARY KEY (pod_name, checkpoint_id)
);
CREATE INDEX engine_adapters_by_checkpoint ON training.engine_adapters (checkpoint_id);

-- Gateways get `adapters:POD`, and the operator the models whose status shows it.
CREATE FUNCTION training.notify_engine_adapters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('adapters:' || pod_name) FROM (SELECT DISTINCT pod_name FROM changed_rows) AS pods;
  PERFORM pg_notify('training_models', model_id::text)
  FROM (SELECT DISTINCT c.model_id FROM changed_rows r JOIN training.checkpoints c ON c.id = r.checkpoint_id) AS models;
  RETURN NULL;
END
$$;
CREATE TRIGGER engine_adapters_added AFTER INSERT ON training.engine_adapters REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_engine_adapters();
CREATE TRIGGER engine_adapters_updated AFTER UPDATE ON training.engine_adapters REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_engine_adapters();
CREATE TRIGGER engine_adapters_removed AFTER DELETE ON training.engine_adapters REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_engine_adapters();

-- These rows say it for each engine.
DROP INDEX training.checkpoints_not_loaded;
ALTER TABLE training.checkpoints DROP COLUMN load_error, DROP COLUMN load_tried_at;
