-- Whose trained tokens' statistics are kept; null: those of some (`sampled`).
ALTER TABLE auth.entities
  ADD COLUMN token_statistics text CHECK (token_statistics IN ('off', 'sampled', 'all'));

-- What a job's trainer has told of its tokens. The file lies at token-statistics/<checkpoint>.parquet.
ALTER TABLE training.checkpoints
  ADD COLUMN statistics_at timestamptz, -- null: nothing told (yet)
  ADD COLUMN statistics_digest text, -- of the file, sha256; null: there is none, or not any more
  ADD COLUMN statistics_bytes bigint;
CREATE INDEX checkpoints_with_statistics ON training.checkpoints (model_id, step) WHERE statistics_digest IS NOT NULL;

-- How strongly a trajectory moved the policy: positive when it was made likelier. Null: logged, or not told (yet).
ALTER TABLE training.trajectories ADD COLUMN push double precision;
