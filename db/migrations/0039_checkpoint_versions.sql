-- A checkpoint is also a version of the artifact with its model's name. Versions count all checkpoints of a model, also
-- those that are deleted.
ALTER TABLE training.checkpoints ADD COLUMN version integer;
UPDATE training.checkpoints c SET version = numbered.version FROM (
  SELECT id, row_number() OVER (PARTITION BY model_id ORDER BY position) - 1 AS version FROM training.checkpoints
) numbered WHERE numbered.id = c.id;
CREATE INDEX checkpoints_by_version ON training.checkpoints (model_id, version);

-- Whoever adds a checkpoint has locked its model, or has just inserted it.
CREATE FUNCTION training.number_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := (SELECT coalesce(max(version), -1) + 1 FROM training.checkpoints WHERE model_id = NEW.model_id);
  RETURN NEW;
END
$$;
CREATE TRIGGER checkpoints_numbered BEFORE INSERT ON training.checkpoints
  FOR EACH ROW EXECUTE FUNCTION training.number_checkpoint();

-- What only the version has. A row is inserted when somebody reads or changes the version for the first time.
CREATE TABLE training.checkpoint_versions (
  checkpoint_id uuid PRIMARY KEY REFERENCES training.checkpoints ON DELETE CASCADE,
  files jsonb, -- as in artifact_versions; null: not known yet
  digest text, -- wandb's digest of paths and md5s, in hex
  metadata json NOT NULL DEFAULT '{}', -- as it came: jsonb has no NUL in texts
  description text,
  tags text[] NOT NULL DEFAULT '{}',
  run_name text, -- the run that logged it
  client_id text,
  updated_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE training.jobs
  ADD COLUMN reserved_step integer; -- the step of its first attempt. Later attempts begin from the same checkpoint, and make the same step

-- Engines load no adapter of a higher rank. Null: the operator has not registered it again since.
ALTER TABLE training.base_models ADD COLUMN max_lora_rank integer;
