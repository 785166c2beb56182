CREATE SCHEMA auth;
CREATE SCHEMA training;

CREATE TABLE auth.api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  digest bytea NOT NULL UNIQUE, -- sha256 of the key; the key itself is shown once and stored nowhere
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);

-- What clients may name as base_model; written by the operator from BaseModel resources.
CREATE TABLE training.base_models (
  name text PRIMARY KEY, -- canonical name: the first of spec.names
  names text[] NOT NULL,
  namespace text NOT NULL,
  cr_name text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (namespace, cr_name)
);

CREATE TABLE training.models (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  project text NOT NULL,
  name text NOT NULL,
  base_model text NOT NULL, -- a canonical name of training.base_models
  namespace text NOT NULL,
  cr_name text NOT NULL,
  cr_made_at timestamptz, -- null: wanted, but its resource was not made yet
  last_step integer NOT NULL DEFAULT 0, -- the highest step ever given: never reused
  created_at timestamptz NOT NULL DEFAULT now(),
  hidden_at timestamptz, -- its resource was deleted under the Retain policy
  UNIQUE (entity, project, name)
);
CREATE INDEX models_to_make ON training.models (created_at) WHERE cr_made_at IS NULL;
CREATE INDEX models_by_resource ON training.models (namespace, cr_name);

CREATE TABLE training.jobs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  arrival bigint GENERATED ALWAYS AS IDENTITY,
  model_id uuid NOT NULL REFERENCES training.models,
  method text NOT NULL CHECK (method IN ('RL', 'SFT')),
  input_uri text NOT NULL,
  input_digest text NOT NULL,
  config jsonb NOT NULL, -- wire names (learning_rate), absent where the client gave nothing
  state text NOT NULL DEFAULT 'Pending'
    CHECK (state IN ('Pending', 'Queued', 'Starting', 'Running', 'Publishing', 'Succeeded', 'Failed', 'Cancelled')),
  attempt integer NOT NULL DEFAULT 0, -- fences the writes of earlier attempts
  max_attempts integer NOT NULL DEFAULT 6,
  holder_pod uuid, -- uid of the trainer pod that claimed it
  holder_process uuid, -- and which start of the trainer in that pod
  lease_expires_at timestamptz,
  checkpoint_id uuid, -- the checkpoint that this attempt is to write
  step integer, -- the step number that the checkpoint will have
  progress_step integer NOT NULL DEFAULT 0,
  progress_total integer,
  failure jsonb, -- {category, reason, message}
  spec_digest text NOT NULL,
  namespace text NOT NULL,
  cr_name text NOT NULL,
  cr_made_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz
);
CREATE UNIQUE INDEX jobs_one_active_per_model ON training.jobs (model_id)
  WHERE state IN ('Starting', 'Running', 'Publishing');
CREATE INDEX jobs_unfinished ON training.jobs (model_id, arrival)
  WHERE state NOT IN ('Succeeded', 'Failed', 'Cancelled');
CREATE INDEX jobs_to_make ON training.jobs (arrival) WHERE cr_made_at IS NULL;
CREATE INDEX jobs_by_resource ON training.jobs (namespace, cr_name, spec_digest);

CREATE TABLE training.checkpoints (
  id uuid PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY,
  model_id uuid NOT NULL REFERENCES training.models,
  job_id uuid NOT NULL UNIQUE REFERENCES training.jobs,
  step integer NOT NULL,
  uri text NOT NULL,
  digest text NOT NULL, -- sha256 of its manifest.json
  metrics jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (model_id, step)
);

CREATE TABLE training.events (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  position bigint GENERATED ALWAYS AS IDENTITY,
  job_id uuid NOT NULL REFERENCES training.jobs,
  seq integer NOT NULL, -- 0 training_started, k the k-th gradient_step: a repeated attempt repeats no event
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (job_id, seq)
);

-- Whoever waits for a change (operator, status server) listens to these; a missed one is made good by a resync.
CREATE FUNCTION training.notify_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(TG_ARGV[0], NEW.id::text);
  RETURN NULL;
END
$$;
CREATE TRIGGER models_changed AFTER INSERT OR UPDATE ON training.models
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_models');
-- Not of lease_expires_at: trainers renew their leases all the time, and nobody waits for that.
CREATE TRIGGER jobs_changed AFTER INSERT OR UPDATE OF state, attempt, max_attempts, checkpoint_id, step, progress_step,
  progress_total, failure, namespace, cr_name, cr_made_at, started_at, finished_at ON training.jobs
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_jobs');
