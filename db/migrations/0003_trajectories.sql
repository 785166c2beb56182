-- Groups of trajectories that were logged, not trained on.
CREATE TABLE training.logs (
  id uuid PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY,
  model_id uuid NOT NULL REFERENCES training.models,
  key_id uuid, -- the key that logged them
  split text NOT NULL,
  step integer NOT NULL, -- of the model's newest checkpoint then; 0 without one
  groups integer NOT NULL,
  trajectories integer NOT NULL,
  exceptions integer NOT NULL, -- rollouts that failed
  -- Of the rewards; by mean and sum of squared distances from it, those of many logs are put together.
  mean_reward double precision NOT NULL,
  min_reward double precision NOT NULL,
  max_reward double precision NOT NULL,
  reward_squares double precision NOT NULL,
  payload_uri text NOT NULL,
  payload_digest text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX logs_by_model ON training.logs (model_id, position);
CREATE INDEX logs_by_step ON training.logs (model_id, split, step, position);

-- Where every trajectory lies that was trained on or logged, and what people look for it by. Payloads stay in the store.
CREATE TABLE training.trajectories (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  position bigint GENERATED ALWAYS AS IDENTITY,
  model_id uuid NOT NULL REFERENCES training.models,
  job_id uuid REFERENCES training.jobs,
  log_id uuid REFERENCES training.logs,
  split text NOT NULL, -- train for jobs
  step integer, -- a log's; a job's is that of its checkpoint, which is looked up
  group_index integer NOT NULL,
  trajectory_index integer NOT NULL,
  group_exceptions integer NOT NULL,
  scenario_id text,
  prompt_hash text NOT NULL, -- sha256 of the messages before the first answer
  reward double precision NOT NULL,
  advantage double precision, -- null: beyond all numbers
  metrics jsonb NOT NULL, -- numbers and truth values
  tokens integer NOT NULL, -- that were sampled
  flags text[] NOT NULL,
  payload_uri text NOT NULL,
  payload_offset bigint NOT NULL, -- bytes
  payload_length bigint NOT NULL,
  CHECK (num_nonnulls(job_id, log_id) = 1)
);
CREATE INDEX trajectories_by_model ON training.trajectories (model_id, position);
CREATE INDEX trajectories_by_job ON training.trajectories (job_id, position) WHERE job_id IS NOT NULL;
CREATE INDEX trajectories_by_step ON training.trajectories (model_id, step, position) WHERE step IS NOT NULL;
CREATE INDEX trajectories_by_log ON training.trajectories (log_id) WHERE log_id IS NOT NULL;
CREATE INDEX trajectories_by_scenario ON training.trajectories (model_id, scenario_id, position)
  WHERE scenario_id IS NOT NULL;
CREATE INDEX trajectories_by_prompt ON training.trajectories (model_id, prompt_hash, position);
CREATE INDEX trajectories_by_reward ON training.trajectories (model_id, reward);
