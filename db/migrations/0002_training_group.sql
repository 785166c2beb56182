-- Keys: roles, expiry, rotation.
ALTER TABLE auth.api_keys
  ADD COLUMN name text,
  ADD COLUMN role text NOT NULL DEFAULT 'admin' CHECK (role IN ('admin', 'member', 'read')),
  ADD COLUMN prefix text, -- the first characters of the key, by which people recognise it
  ADD COLUMN expires_at timestamptz, -- null: never
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN replaced_by uuid REFERENCES auth.api_keys;
CREATE INDEX api_keys_by_entity ON auth.api_keys (entity, created_at, id);

-- A deleted model keeps its row, so that its jobs and cursors still mean something; its name is free again.
ALTER TABLE training.models
  ADD COLUMN key_id uuid, -- the key that made it
  ADD COLUMN retention jsonb, -- {keep_last, keep_best {metric, mode, count}, ttl_seconds}; null: everything is kept
  ADD COLUMN forked_from uuid, -- the checkpoint that it was started from
  ADD COLUMN deleted_at timestamptz,
  DROP CONSTRAINT models_entity_project_name_key;
CREATE UNIQUE INDEX models_by_name ON training.models (entity, project, name) WHERE deleted_at IS NULL;

-- A deleted checkpoint keeps its row: its step is never given again, and a cursor that names it goes on working.
ALTER TABLE training.checkpoints
  ALTER COLUMN job_id DROP NOT NULL, -- a fork's first checkpoint has no job
  ADD COLUMN forked_from uuid REFERENCES training.checkpoints,
  ADD COLUMN deleted_at timestamptz;

ALTER TABLE training.jobs
  ADD COLUMN key_id uuid, -- the key that asked for it
  ADD COLUMN training_data_url text, -- as the client gave it; input_uri is what it stands for
  ADD COLUMN experimental_config jsonb, -- SFT: whatever the client gave
  ADD COLUMN cancel_requested_at timestamptz,
  ADD COLUMN queued_at timestamptz,
  ADD COLUMN claimed_at timestamptz, -- by its newest attempt
  ADD COLUMN trained_at timestamptz, -- its checkpoint was written and recorded
  ADD COLUMN gpus integer NOT NULL DEFAULT 0, -- that its newest attempt works with
  ALTER COLUMN input_digest DROP NOT NULL; -- of an address outside of the store: not known before it is fetched
CREATE INDEX jobs_by_model ON training.jobs (model_id, arrival);
