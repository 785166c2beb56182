-- Why the engines cannot load the adapter of a checkpoint, though they have read it; null: nothing is known against it.
ALTER TABLE training.checkpoints
  ADD COLUMN load_error text,
  ADD COLUMN load_tried_at timestamptz; -- of one with an error: when engines were last asked
CREATE INDEX checkpoints_not_loaded ON training.checkpoints (load_tried_at) WHERE load_error IS NOT NULL;
