-- Whether the newest step of a model stays loaded on every engine (spec.keepLoaded of its resource).
ALTER TABLE training.models ADD COLUMN keep_loaded boolean NOT NULL DEFAULT false;
CREATE INDEX models_kept_loaded ON training.models (base_model) WHERE keep_loaded;

-- When clients last asked a model at a step. Each gateway process writes it at most once a minute.
CREATE TABLE training.adapter_uses (
  model_id uuid NOT NULL REFERENCES training.models ON DELETE CASCADE,
  checkpoint_id uuid, -- null: step 0, which is the base model
  asked_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX adapter_uses_by_step ON training.adapter_uses (model_id, coalesce(checkpoint_id, model_id));
CREATE INDEX adapter_uses_by_checkpoint ON training.adapter_uses (checkpoint_id);
CREATE INDEX adapter_uses_by_time ON training.adapter_uses (asked_at);
