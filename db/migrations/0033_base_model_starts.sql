-- How many bytes of a base model's weights a pod has downloaded, for the operator. After a crash, pods report again, so
-- that it needs no log.
CREATE UNLOGGED TABLE training.model_downloads (
  pod_uid uuid PRIMARY KEY,
  done_bytes bigint NOT NULL CHECK (done_bytes >= 0),
  total_bytes bigint NOT NULL CHECK (total_bytes >= 0),
  reported_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE training.base_model_sources
  -- {layers, share}: the layers of the text decoder without an adapter, and their share of its weights. Trainers report
  -- it. Null: not known yet. It follows from trained_on.
  ADD COLUMN untrained_layers jsonb;
