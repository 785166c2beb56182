-- A hold ends then, unless its process has renewed it. Processes of the earlier version renew nothing, and set no time.
ALTER TABLE training.held_keys ADD COLUMN expires_at timestamptz NOT NULL DEFAULT now() + interval '6 hours';
