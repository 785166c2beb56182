-- What an entity may use. Null: the installation's default. An entity without a row has the defaults in all.
CREATE TABLE auth.entities (
  entity text PRIMARY KEY,
  requests_per_minute integer CHECK (requests_per_minute >= 0),
  concurrent_streams integer CHECK (concurrent_streams >= 0),
  queued_jobs integer CHECK (queued_jobs >= 0),
  stored_bytes bigint CHECK (stored_bytes >= 0),
  payload_days integer CHECK (payload_days >= 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Requests of this minute, by entity, where there is a limit. The columns are those that rate-limiter-flexible asks for.
-- Unlogged: a crash of the database costs one minute's counts.
CREATE UNLOGGED TABLE auth.request_counts (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

-- What was used, by the hour in which it ended.
CREATE TABLE training.usage (
  entity text NOT NULL,
  hour timestamptz NOT NULL,
  project text, -- null: a chat with a base model that named none
  model_id uuid, -- null: a base model
  base_model text NOT NULL,
  key_id uuid, -- null: asked for over Kubernetes
  requests bigint NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  trained_tokens bigint NOT NULL DEFAULT 0,
  training_seconds double precision NOT NULL DEFAULT 0,
  gpu_seconds double precision NOT NULL DEFAULT 0,
  UNIQUE NULLS NOT DISTINCT (entity, hour, project, model_id, base_model, key_id)
);

-- The last batch that each gateway process has written, so that a batch that is sent again counts once.
CREATE TABLE training.usage_writers (
  process uuid PRIMARY KEY,
  batch bigint NOT NULL,
  written_at timestamptz NOT NULL
);

-- Sizes in the artifact store, for the limit of stored bytes. Null: from before they were noted.
ALTER TABLE training.jobs ADD COLUMN input_bytes bigint; -- of trajectories; data sets are in training.blobs
ALTER TABLE training.logs ADD COLUMN payload_bytes bigint;
ALTER TABLE training.checkpoints ADD COLUMN bytes bigint;
