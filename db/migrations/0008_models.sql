-- What becomes of models: deleted, kept for a while, named by aliases, forked.
ALTER TABLE training.models
  ADD COLUMN deletion_policy text NOT NULL DEFAULT 'Retain' CHECK (deletion_policy IN ('Retain', 'Delete')),
  ADD COLUMN resource_aliases jsonb NOT NULL DEFAULT '{}', -- what of its resource's spec.aliases was taken over
  ADD COLUMN forked_from_model uuid, -- of a fork: the model that it was started from, and the step
  ADD COLUMN forked_from_step integer,
  ADD COLUMN retention_applied_at timestamptz, -- null: its retention is new, or changed
  ADD COLUMN cleared_at timestamptz, -- deleted: resources, adapters and files are gone
  ADD COLUMN purged_at timestamptz; -- deleted: nothing is left but tombstones
CREATE INDEX models_to_purge ON training.models (deleted_at) WHERE deleted_at IS NOT NULL AND purged_at IS NULL;
CREATE INDEX models_with_retention ON training.models (retention_applied_at)
  WHERE retention IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX models_by_age ON training.models (entity, created_at, id);

ALTER TABLE training.checkpoints
  ADD COLUMN purged_at timestamptz, -- deleted: its adapter and its files are gone
  ADD COLUMN optimizer_gone_at timestamptz; -- only a model's newest step keeps its optimizer state
CREATE INDEX checkpoints_to_purge ON training.checkpoints (deleted_at)
  WHERE deleted_at IS NOT NULL AND purged_at IS NULL;
CREATE INDEX checkpoints_with_optimizer ON training.checkpoints (model_id, step)
  WHERE deleted_at IS NULL AND optimizer_gone_at IS NULL;

ALTER TABLE training.jobs ADD COLUMN input_gone_at timestamptz; -- its payload was removed from the store
CREATE INDEX jobs_by_input ON training.jobs (input_uri);
CREATE INDEX jobs_by_checkpoint ON training.jobs (checkpoint_id) WHERE checkpoint_id IS NOT NULL;

-- Names of steps: served as entity/project/name:alias, and kept by retention.
CREATE TABLE training.aliases (
  model_id uuid NOT NULL REFERENCES training.models ON DELETE CASCADE,
  alias text NOT NULL,
  step integer NOT NULL, -- 0 is the model before any training
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (model_id, alias)
);

-- What clients were told of a deletion, for those that ask again because the answer was lost.
CREATE TABLE training.deletions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  target text NOT NULL, -- what was to be deleted
  answer jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX deletions_by_target ON training.deletions (entity, target, created_at);
CREATE INDEX deletions_by_age ON training.deletions (created_at);

-- A project or an entity that is erased everywhere, and the report of it.
CREATE TABLE training.erasures (
  id uuid PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY,
  entity text NOT NULL,
  project text, -- null: the entity with all that it has
  key_id uuid NOT NULL, -- the key that asked for it, which can read the report for a while
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  measured_at timestamptz, -- its files were counted, and may be removed
  finished_at timestamptz,
  report jsonb NOT NULL DEFAULT '{}' -- how many of each kind are gone
);
CREATE INDEX erasures_to_do ON training.erasures (requested_at) WHERE finished_at IS NULL;
CREATE INDEX erasures_by_entity ON training.erasures (entity, position);

-- What lies in the store and no row points at; removed when that is still so a day later.
CREATE TABLE training.garbage (
  prefix text PRIMARY KEY,
  noted_at timestamptz NOT NULL DEFAULT now(),
  bytes bigint NOT NULL
);

-- Nobody waits for what upkeep notes about a model.
DROP TRIGGER models_changed ON training.models;
CREATE TRIGGER models_changed AFTER INSERT OR UPDATE OF base_model, namespace, cr_name, cr_made_at, last_step, hidden_at,
  deleted_at, deletion_policy ON training.models
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_models');
