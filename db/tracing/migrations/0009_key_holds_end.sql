-- The same as in the training schema.
ALTER TABLE tracing.held_keys ADD COLUMN expires_at timestamptz NOT NULL DEFAULT now() + interval '6 hours';
