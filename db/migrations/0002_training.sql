-- Base models, models, jobs and what they write; data sets and runs; usage, webhooks, and the artifact store.

CREATE SCHEMA training;

-- Wakes whoever waits for a change, such as the operator. A missed notification is made good by a resync.
CREATE FUNCTION training.notify_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(TG_ARGV[0], NEW.id::text);
  RETURN NULL;
END
$$;

--
-- Base models
--

-- What clients may name as base_model; written by the operator from BaseModel resources.
CREATE TABLE training.base_models (
  name text PRIMARY KEY, -- canonical name: the first of spec.names
  names text[] NOT NULL,
  namespace text NOT NULL,
  cr_name text NOT NULL,
  -- Answers chats that name none: spec.default. Of several, the resource that was created first.
  is_default boolean NOT NULL DEFAULT false,
  default_mode text NOT NULL DEFAULT 'Warm', -- of jobs
  max_lora_rank integer, -- engines load no adapter of a higher rank
  trainer_trouble text, -- why no trainer can begin, as a reason; null if one runs, or if they only need time
  created_at timestamptz NOT NULL DEFAULT now(), -- of the resource
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (namespace, cr_name)
);

-- What the models of a base model are trained on. It stays when the BaseModel is deleted, because their checkpoints fit
-- nothing else.
CREATE TABLE training.base_model_sources (
  name text PRIMARY KEY, -- the canonical name
  trained_on jsonb NOT NULL, -- of the spec: source and lora
  -- {layers, share}: the layers of the text decoder without an adapter, and their share of its weights. Trainers report
  -- it. Null: not known yet. It follows from trained_on.
  untrained_layers jsonb,
  -- The adapter that training starts from: its address in the store, and its files as those of a version. A trainer stores
  -- it.
  untrained_adapter jsonb
);

-- How many bytes of a base model's weights a pod has downloaded, for the operator. After a crash, pods report again, so
-- that it needs no log.
CREATE UNLOGGED TABLE training.model_downloads (
  pod_uid uuid PRIMARY KEY,
  done_bytes bigint NOT NULL CHECK (done_bytes >= 0),
  total_bytes bigint NOT NULL CHECK (total_bytes >= 0),
  reported_at timestamptz NOT NULL DEFAULT now()
);

-- How many requests the gateways have for the engines of a base model, for the operator. A row says the most that a
-- process had at once since its last report. It says nothing after a crash, so that it needs no log.
CREATE UNLOGGED TABLE training.engine_demand (
  process uuid NOT NULL, -- of a gateway
  namespace text NOT NULL,
  base_model text NOT NULL, -- the name of the resource
  requests integer NOT NULL CHECK (requests > 0),
  expires_at timestamptz NOT NULL, -- a process that has requests reports again before it
  PRIMARY KEY (namespace, base_model, process)
);
CREATE INDEX engine_demand_expiry ON training.engine_demand (expires_at);

-- Trainers that are to be replaced: they finish what they hold, and get nothing more.
CREATE TABLE training.draining_trainers (
  pod uuid PRIMARY KEY,
  namespace text NOT NULL,
  base_model text NOT NULL -- the name of the resource
);
CREATE INDEX draining_trainers_by_base_model ON training.draining_trainers (namespace, base_model);

--
-- Models
--

-- A deleted model keeps its row, so that its jobs and cursors still mean something; its name is free again. First its
-- resources, adapters and files are removed, then its rows but for the tombstones.
CREATE TABLE training.models (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  project text NOT NULL,
  name text NOT NULL,
  base_model text NOT NULL, -- a canonical name of training.base_models
  key_id uuid, -- the key that made it
  namespace text NOT NULL,
  cr_name text NOT NULL,
  resource_created_at timestamptz, -- null: the custom resource is wanted, and was not created yet
  resource_aliases jsonb NOT NULL DEFAULT '{}', -- what of its resource's spec.aliases was taken over
  last_step integer NOT NULL DEFAULT 0, -- the highest step ever given: never reused
  forked_from uuid, -- the checkpoint that it was started from
  forked_from_model uuid, -- of a fork: the model that it was started from, and the step
  forked_from_step integer,
  keep_loaded boolean NOT NULL DEFAULT false, -- whether its newest step stays loaded on every engine
  retention jsonb, -- {keep_last, keep_best {metric, mode, count}, ttl_seconds}; null: everything is kept
  retention_applied_at timestamptz, -- null: its retention is new, or changed
  deletion_policy text NOT NULL DEFAULT 'Retain' CHECK (deletion_policy IN ('Retain', 'Delete')),
  created_at timestamptz NOT NULL DEFAULT now(),
  hidden_at timestamptz, -- its resource was deleted under the Retain policy
  deleted_at timestamptz,
  files_removed_at timestamptz,
  rows_removed_at timestamptz
);
CREATE UNIQUE INDEX models_by_name ON training.models (entity, project, name) WHERE deleted_at IS NULL;
CREATE INDEX models_by_age ON training.models (entity, created_at, id);
CREATE INDEX models_by_resource ON training.models (namespace, cr_name);
CREATE INDEX models_without_resource ON training.models (created_at) WHERE resource_created_at IS NULL;
CREATE INDEX models_kept_loaded ON training.models (base_model) WHERE keep_loaded;
CREATE INDEX models_with_retention ON training.models (retention_applied_at)
  WHERE retention IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX models_to_remove ON training.models (deleted_at) WHERE deleted_at IS NOT NULL AND rows_removed_at IS NULL;

-- Nobody waits for what upkeep notes about a model.
CREATE TRIGGER models_changed AFTER INSERT OR UPDATE OF base_model, namespace, cr_name, resource_created_at, last_step,
  hidden_at, deleted_at, deletion_policy ON training.models
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_models');

-- Names of steps: served as entity/project/name:alias, and kept by retention.
CREATE TABLE training.aliases (
  model_id uuid NOT NULL REFERENCES training.models ON DELETE CASCADE,
  alias text NOT NULL,
  step integer NOT NULL, -- 0 is the model before any training
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (model_id, alias)
);

-- When clients last asked a model at a step. Each gateway process writes it at most once a minute.
CREATE TABLE training.adapter_uses (
  model_id uuid NOT NULL REFERENCES training.models ON DELETE CASCADE,
  checkpoint_id uuid, -- null: step 0, which is the base model
  asked_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX adapter_uses_by_step ON training.adapter_uses (model_id, coalesce(checkpoint_id, model_id));
CREATE INDEX adapter_uses_by_checkpoint ON training.adapter_uses (checkpoint_id);
CREATE INDEX adapter_uses_by_time ON training.adapter_uses (asked_at);

--
-- Jobs
--

CREATE TABLE training.jobs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  arrival bigint GENERATED ALWAYS AS IDENTITY,
  model_id uuid NOT NULL REFERENCES training.models,
  -- Of its model: lists by entity and project walk an index, whatever other entities have.
  entity text NOT NULL,
  project text NOT NULL,
  key_id uuid, -- the key that asked for it
  namespace text NOT NULL,
  cr_name text NOT NULL,
  resource_created_at timestamptz, -- null: the custom resource is wanted, and was not created yet
  spec_digest text NOT NULL,

  method text NOT NULL CHECK (method IN ('RL', 'SFT')),
  config jsonb NOT NULL, -- wire names (learning_rate), absent where the client gave nothing
  experimental_config json, -- SFT: as it came: jsonb has no NUL in texts
  -- By a warm trainer of its base model, or by pods of its own (a Job of Kubernetes), which can be suspended, and queued by
  -- Kueue.
  mode text NOT NULL DEFAULT 'Warm' CHECK (mode IN ('Warm', 'Dedicated')),
  priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1000 AND 1000),
  priority_class_name text, -- of its own pods: Kubernetes's PriorityClass
  queue_name text, -- Kueue's LocalQueue
  max_attempts integer NOT NULL DEFAULT 6,
  -- A job that is not claimed so long after its creation, or not trained so long after its first claim, fails.
  start_deadline_seconds integer,
  active_deadline_seconds integer,
  retry_of uuid, -- the ended job whose input and settings it has. No foreign key: erasures remove jobs in any order

  -- The input of an SFT job may be an address that is still to be resolved, or fetched into the store.
  training_data_url text, -- as the client gave it; input_uri is what it stands for
  input_uri text NOT NULL,
  input_digest text, -- of an address outside of the store: not known before it is fetched
  input_bytes bigint, -- of trajectories; data sets are in training.blobs
  input_tries integer NOT NULL DEFAULT 0, -- how often it was begun to fetch it
  input_error text, -- why the last time failed; null: it did not
  input_removed_at timestamptz, -- from the store

  state text NOT NULL DEFAULT 'Pending'
    CHECK (state IN ('Pending', 'Queued', 'Starting', 'Running', 'Publishing', 'Succeeded', 'Failed', 'Cancelled')),
  waiting_reason text, -- of its own pods: while more than the time that a pod takes to start keeps it
  failure jsonb, -- {category, reason, message, retryable}
  -- What the state does not tell: it trained on nothing, or on less than it was given, or a setting was passed over. Lists
  -- of {code, message}, without duplicates; those of the creation come first.
  creation_warnings jsonb NOT NULL DEFAULT '[]',
  training_warnings jsonb NOT NULL DEFAULT '[]', -- of the newest attempt that has started to train
  suspend boolean NOT NULL DEFAULT false, -- what its resource wants
  suspend_asked boolean, -- over REST, and not yet written into its resource
  suspended_at timestamptz, -- since when it is wanted and its pods are gone
  suspended_seconds double precision NOT NULL DEFAULT 0, -- of earlier suspensions: no deadline counts them

  attempt integer NOT NULL DEFAULT 0, -- fences the writes of earlier attempts
  releases integer NOT NULL DEFAULT 0, -- attempts that trainers gave back when they were stopped: these are no retries
  holder_pod uuid, -- uid of the trainer pod that claimed it
  holder_process uuid, -- and which start of the trainer in that pod
  lease_expires_at timestamptz,
  gpus integer NOT NULL DEFAULT 0, -- that its newest attempt works with
  reported_at timestamptz, -- when its trainer last reported a start, a step or a save. Heartbeats are no reports
  progress_step integer NOT NULL DEFAULT 0,
  progress_total integer,
  checkpoint_id uuid, -- the checkpoint that this attempt is to write
  step integer, -- the step number that the checkpoint will have
  -- The step of its first attempt. Later attempts begin from the same checkpoint, and make the same step.
  reserved_step integer,

  created_at timestamptz NOT NULL DEFAULT now(),
  queued_at timestamptz,
  claimed_at timestamptz, -- by its newest attempt
  started_at timestamptz,
  cancel_requested_at timestamptz,
  trained_at timestamptz, -- its checkpoint was written and recorded
  finished_at timestamptz
);
CREATE UNIQUE INDEX jobs_one_active_per_model ON training.jobs (model_id)
  WHERE state IN ('Starting', 'Running', 'Publishing');
CREATE INDEX jobs_unfinished ON training.jobs (model_id, arrival)
  WHERE state NOT IN ('Succeeded', 'Failed', 'Cancelled');
CREATE INDEX jobs_without_resource ON training.jobs (arrival) WHERE resource_created_at IS NULL;
CREATE INDEX jobs_by_resource ON training.jobs (namespace, cr_name, spec_digest);
CREATE INDEX jobs_by_model ON training.jobs (model_id, arrival);
CREATE INDEX jobs_by_entity ON training.jobs (entity, arrival);
CREATE INDEX jobs_by_project ON training.jobs (entity, project, arrival);
CREATE INDEX jobs_by_state ON training.jobs (entity, state, arrival);
CREATE INDEX jobs_by_input ON training.jobs (input_uri);
CREATE INDEX jobs_by_checkpoint ON training.jobs (checkpoint_id) WHERE checkpoint_id IS NOT NULL;
-- The newest jobs that succeeded: the estimate of the start of a waiting job reads how long they took.
CREATE INDEX jobs_succeeded ON training.jobs (finished_at) WHERE state = 'Succeeded';
-- Each request for a job counts the unfinished ones of its entity.
CREATE INDEX jobs_unfinished_of_entity ON training.jobs (entity) WHERE state NOT IN ('Succeeded', 'Failed', 'Cancelled');
-- A claim looks for what its pod holds already.
CREATE INDEX jobs_by_holder ON training.jobs (holder_pod) WHERE state IN ('Starting', 'Running');

CREATE FUNCTION training.set_job_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT entity, project INTO NEW.entity, NEW.project FROM training.models WHERE id = NEW.model_id;
  RETURN NEW;
END
$$;
CREATE TRIGGER jobs_owner BEFORE INSERT ON training.jobs FOR EACH ROW EXECUTE FUNCTION training.set_job_owner();

-- Postgres has one lock for the commits of all transactions that notify, so that these wait for each other. A job notifies
-- only where somebody has to act.

-- The operator looks at a job. It need not do so for a new row, whose resource it watches, nor for a job that it has queued
-- itself, nor when a trainer renews its lease.
CREATE TRIGGER jobs_changed AFTER UPDATE OF state, attempt, max_attempts, checkpoint_id, step, progress_step, progress_total,
  failure, started_at, finished_at, input_digest, input_error ON training.jobs
  FOR EACH ROW WHEN (OLD.state <> 'Pending' OR NEW.state <> 'Queued')
  EXECUTE FUNCTION training.notify_changed('training_jobs');
CREATE TRIGGER jobs_suspended AFTER UPDATE OF suspend, suspend_asked, suspended_at ON training.jobs
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_jobs');
-- It publishes the job's checkpoint at once.
CREATE TRIGGER job_trained AFTER UPDATE OF state ON training.jobs
  FOR EACH ROW WHEN (OLD.state <> 'Publishing' AND NEW.state = 'Publishing')
  EXECUTE FUNCTION training.notify_changed('training_publishing');

-- Status servers look for a job that waits: this one, or the next one of its model.
CREATE FUNCTION training.notify_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY training_queue;
  RETURN NULL;
END
$$;
CREATE TRIGGER queue_changed AFTER UPDATE OF state, attempt, max_attempts, failure, suspend, suspended_at ON training.jobs
  FOR EACH ROW
  WHEN (NEW.state = 'Queued' OR NEW.state <> OLD.state AND NEW.state IN ('Succeeded', 'Failed', 'Cancelled'))
  EXECUTE FUNCTION training.notify_queue();

-- Each attempt at a job: the pod that held it may still add to its log when it no longer does.
CREATE TABLE training.job_attempts (
  job_id uuid NOT NULL REFERENCES training.jobs ON DELETE CASCADE,
  attempt integer NOT NULL,
  pod uuid NOT NULL,
  -- When it held its pod, so that those which hold it at the same time share its GPUs in what is charged.
  claimed_at timestamptz,
  ended_at timestamptz NOT NULL DEFAULT 'infinity',
  lost_at timestamptz, -- its lease has expired, and it is not known yet why, and so whether it counts as a try
  stopping_since timestamptz, -- it was ended while its trainer worked on it, which has not dropped it yet
  log_seq integer NOT NULL DEFAULT -1, -- of the last line that the trainer sent: what it repeats is known
  log_lines integer NOT NULL DEFAULT 0,
  log_bytes integer NOT NULL DEFAULT 0,
  -- What it has cost its entity so far, and the entity's weight then. Null: it did not wait for a warm trainer.
  queue_cost double precision,
  queue_weight double precision,
  PRIMARY KEY (job_id, attempt)
);
CREATE INDEX job_attempts_by_pod ON training.job_attempts (pod, ended_at);
CREATE INDEX job_attempts_lost ON training.job_attempts (pod) WHERE lost_at IS NOT NULL;
CREATE INDEX job_attempts_stopping ON training.job_attempts (pod) WHERE stopping_since IS NOT NULL;

CREATE TABLE training.job_logs (
  job_id uuid NOT NULL REFERENCES training.jobs ON DELETE CASCADE,
  attempt integer NOT NULL,
  seq integer NOT NULL, -- the trainer's own number; what is said about an attempt comes behind all of these
  at timestamptz NOT NULL,
  level text NOT NULL CHECK (level IN ('info', 'warn', 'error')),
  text text NOT NULL,
  PRIMARY KEY (job_id, attempt, seq)
);

-- What running jobs have saved, at progress/<job>/<id> in the store: who takes a job over goes on from the newest of
-- its newest attempt. Rows go when their files are gone.
CREATE TABLE training.job_progress (
  job_id uuid NOT NULL REFERENCES training.jobs ON DELETE CASCADE,
  id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  attempt integer NOT NULL,
  step integer NOT NULL, -- gradient steps that are done
  digest text NOT NULL, -- sha256 of its manifest.json
  saved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job_id, id)
);

-- The time in which reports of trainers could be recorded without a break. Leases expire only in such a time. After a
-- crash, or on another server, the table is empty, and the time begins anew.
CREATE UNLOGGED TABLE training.report_service (
  id integer PRIMARY KEY CHECK (id = 1), -- there is one row
  up_since timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);

--
-- The order of waiting jobs
--

-- Start-time fair queueing between entities (db/jobs/fair-order.ts). One row for each entity and base model since its first
-- claim. Virtual times are GPU seconds divided by a weight.
CREATE TABLE training.entity_queues (
  entity text NOT NULL,
  base_model text NOT NULL,
  virtual_start double precision NOT NULL, -- of its newest job
  virtual_end double precision NOT NULL, -- of its newest job: its next one starts then, or later
  job_seconds double precision NOT NULL, -- GPU seconds of its recent attempts, on average
  weight double precision NOT NULL,
  PRIMARY KEY (entity, base_model)
);

-- Differences between what ended attempts have used and what they were charged. The entity's next claim adds them to its
-- row. They are rows of their own so that no end of a job locks the row of its entity.
CREATE TABLE training.queue_corrections (
  entity text NOT NULL,
  base_model text NOT NULL,
  gpu_seconds double precision NOT NULL,
  cost double precision NOT NULL
);
CREATE INDEX queue_corrections_by_queue ON training.queue_corrections (entity, base_model);

-- Whose waiting jobs are not claimed (db/jobs/queue-blocks.ts). Running jobs go on.
CREATE TABLE training.queue_pauses (
  entity text NOT NULL, -- '*': all entities
  by_administrator boolean NOT NULL, -- of the installation; else by an admin of the entity
  paused_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (entity, by_administrator),
  CHECK (entity <> '*' OR by_administrator)
);

--
-- Checkpoints
--

-- A deleted checkpoint keeps its row: its step is never given again, and a cursor that names it goes on working.
CREATE TABLE training.checkpoints (
  id uuid PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY,
  model_id uuid NOT NULL REFERENCES training.models,
  job_id uuid UNIQUE REFERENCES training.jobs, -- null: the first checkpoint of a fork
  forked_from uuid REFERENCES training.checkpoints,
  step integer NOT NULL,
  -- It is also a version of the artifact with its model's name. Versions count all checkpoints of a model, also those that
  -- are deleted.
  version integer,
  uri text NOT NULL,
  digest text NOT NULL, -- sha256 of its manifest.json
  bytes bigint,
  metrics jsonb NOT NULL,
  -- What its job's trainer has told of its tokens. The file lies at token-statistics/<checkpoint>.parquet.
  statistics_at timestamptz, -- null: nothing told (yet)
  statistics_digest text, -- of the file, sha256; null: there is none, or not any more
  statistics_bytes bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  optimizer_removed_at timestamptz, -- only a model's newest step keeps its optimizer state
  deleted_at timestamptz,
  files_removed_at timestamptz, -- deleted: its adapter and its files are removed
  UNIQUE (model_id, step)
);
CREATE INDEX checkpoints_by_version ON training.checkpoints (model_id, version);
CREATE INDEX checkpoints_with_optimizer ON training.checkpoints (model_id, step)
  WHERE deleted_at IS NULL AND optimizer_removed_at IS NULL;
CREATE INDEX checkpoints_with_statistics ON training.checkpoints (model_id, step) WHERE statistics_digest IS NOT NULL;
CREATE INDEX checkpoints_to_remove ON training.checkpoints (deleted_at)
  WHERE deleted_at IS NOT NULL AND files_removed_at IS NULL;

-- Whoever adds a checkpoint has locked its model, or has just inserted it.
CREATE FUNCTION training.number_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := (SELECT coalesce(max(version), -1) + 1 FROM training.checkpoints WHERE model_id = NEW.model_id);
  RETURN NEW;
END
$$;
CREATE TRIGGER checkpoints_numbered BEFORE INSERT ON training.checkpoints
  FOR EACH ROW EXECUTE FUNCTION training.number_checkpoint();

-- What only the version has. A row is inserted when somebody reads or changes the version for the first time.
CREATE TABLE training.checkpoint_versions (
  checkpoint_id uuid PRIMARY KEY REFERENCES training.checkpoints ON DELETE CASCADE,
  files jsonb, -- as in artifact_versions; null: not known yet
  digest text, -- wandb's digest of paths and md5s, in hex
  metadata json NOT NULL DEFAULT '{}', -- as it came: jsonb has no NUL in texts
  description text,
  tags text[] NOT NULL DEFAULT '{}',
  run_name text, -- the run that logged it
  client_id text,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- What each engine pod has said about adapters: those that it has loaded, and those that it cannot load. A pod that is
-- not Ready, or is gone, has no rows. The operator writes them.
CREATE TABLE training.engine_adapters (
  pod_name text NOT NULL,
  checkpoint_id uuid NOT NULL,
  pod_uid text NOT NULL,
  container_start text NOT NULL, -- a container that starts again has loaded nothing yet
  error text, -- why the engine cannot load it; null: it is loaded
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- since when it is loaded, or when it was last tried
  PRIMARY KEY (pod_name, checkpoint_id)
);
CREATE INDEX engine_adapters_by_checkpoint ON training.engine_adapters (checkpoint_id);

--
-- Events and metrics of jobs
--

CREATE TABLE training.events (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  position bigint GENERATED ALWAYS AS IDENTITY,
  job_id uuid NOT NULL REFERENCES training.jobs,
  seq integer NOT NULL, -- 0 training_started, k the k-th gradient_step: a repeated attempt repeats no event
  type text NOT NULL,
  data jsonb NOT NULL,
  -- Gradient steps are numbered in their model, over all its jobs.
  model_id uuid, -- of gradient steps only, as the others
  model_step integer, -- the step that the job makes
  model_index bigint, -- from 0, without gaps
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (job_id, seq)
);
CREATE UNIQUE INDEX events_by_model ON training.events (model_id, model_index) WHERE model_index IS NOT NULL;

-- Whoever waits for a job's events listens to this: one notification per job and statement.
CREATE FUNCTION training.notify_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('training_events', job_id::text) FROM (SELECT DISTINCT job_id FROM inserted) AS jobs;
  RETURN NULL;
END
$$;
CREATE TRIGGER events_inserted AFTER INSERT ON training.events REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_events();

CREATE TABLE training.metric_heads (
  model_id uuid PRIMARY KEY REFERENCES training.models,
  count bigint NOT NULL DEFAULT 0 -- of numbered gradient steps
);

-- Charts read the metrics of many gradient steps from buckets of 16, 256 and 4,096. A bucket is written when it is complete,
-- and never changes.
CREATE TABLE training.metric_buckets (
  model_id uuid NOT NULL REFERENCES training.models,
  width integer NOT NULL,
  bucket bigint NOT NULL, -- index / width
  first_step integer NOT NULL,
  last_step integer NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  metrics jsonb NOT NULL, -- {KEY: [min, max, sum, last, count]}
  PRIMARY KEY (model_id, width, bucket)
);

-- The metrics of a gradient step in the form of buckets. Sums of larger numbers could exceed a double.
CREATE FUNCTION training.metrics_of_event(data jsonb) RETURNS TABLE (key text, value double precision)
LANGUAGE sql IMMUTABLE AS $$
  SELECT m.key, m.value::double precision FROM jsonb_each(data) AS m
  WHERE CASE WHEN jsonb_typeof(m.value) = 'number' THEN abs(m.value::numeric) < 1e290 ELSE false END
$$;

-- Writes the buckets that are complete since a model had `earlier` gradient steps.
CREATE FUNCTION training.fill_metric_buckets(model uuid, earlier bigint, now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wide integer;
BEGIN
  IF now / 16 > earlier / 16 THEN
    INSERT INTO training.metric_buckets
    SELECT model, 16, s.bucket, s.first_step, s.last_step, s.first_at, s.last_at, coalesce(v.metrics, '{}')
    FROM (
      SELECT model_index / 16 AS bucket, min(model_step) AS first_step, max(model_step) AS last_step,
        min(created_at) AS first_at, max(created_at) AS last_at
      FROM training.events
      WHERE model_id = model AND model_index >= earlier / 16 * 16 AND model_index < now / 16 * 16 GROUP BY 1
    ) AS s LEFT JOIN (
      SELECT bucket, jsonb_object_agg(key, jsonb_build_array(least, most, total, latest, values)) AS metrics FROM (
        SELECT e.model_index / 16 AS bucket, m.key, min(m.value) AS least, max(m.value) AS most, sum(m.value) AS total,
          (array_agg(m.value ORDER BY e.model_index DESC))[1] AS latest, count(*) AS values
        FROM training.events e, training.metrics_of_event(e.data) AS m
        WHERE e.model_id = model AND e.model_index >= earlier / 16 * 16 AND e.model_index < now / 16 * 16
        GROUP BY 1, 2
      ) AS keys GROUP BY bucket
    ) AS v USING (bucket)
    ON CONFLICT DO NOTHING;
  END IF;
  FOREACH wide IN ARRAY ARRAY[256, 4096] LOOP
    CONTINUE WHEN now / wide = earlier / wide;
    INSERT INTO training.metric_buckets
    SELECT model, wide, s.bucket, s.first_step, s.last_step, s.first_at, s.last_at, coalesce(v.metrics, '{}')
    FROM (
      SELECT bucket / 16 AS bucket, min(first_step) AS first_step, max(last_step) AS last_step,
        min(first_at) AS first_at, max(last_at) AS last_at
      FROM training.metric_buckets
      WHERE model_id = model AND width = wide / 16
        AND bucket >= earlier / wide * 16 AND bucket < now / wide * 16 GROUP BY 1
    ) AS s LEFT JOIN (
      SELECT bucket, jsonb_object_agg(key, jsonb_build_array(least, most, total, latest, values)) AS metrics FROM (
        SELECT b.bucket / 16 AS bucket, m.key, min((m.value->>0)::float8) AS least, max((m.value->>1)::float8) AS most,
          sum((m.value->>2)::float8) AS total,
          (array_agg((m.value->>3)::float8 ORDER BY b.bucket DESC))[1] AS latest, sum((m.value->>4)::bigint) AS values
        FROM training.metric_buckets b, jsonb_each(b.metrics) AS m
        WHERE b.model_id = model AND b.width = wide / 16
          AND b.bucket >= earlier / wide * 16 AND b.bucket < now / wide * 16
        GROUP BY 1, 2
      ) AS keys GROUP BY bucket
    ) AS v USING (bucket)
    ON CONFLICT DO NOTHING;
  END LOOP;
END
$$;

-- The first gradient step of a model that is not before a step, or not before a time. Both only grow.
CREATE FUNCTION training.find_metric_index(model uuid, total bigint, wanted_step bigint, wanted_at timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := 0;
  high bigint := total;
  middle bigint;
  is_before boolean;
BEGIN
  WHILE low < high LOOP
    middle := (low + high) / 2;
    SELECT coalesce(model_step < wanted_step, created_at < wanted_at) INTO is_before
    FROM training.events WHERE model_id = model AND model_index = middle;
    IF coalesce(is_before, true) THEN low := middle + 1; ELSE high := middle; END IF;
  END LOOP;
  RETURN low;
END
$$;

--
-- Trajectories
--

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
  payload_bytes bigint,
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
  push double precision, -- how strongly it moved the policy: positive when it was made likelier. Null: not told (yet)
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

--
-- Artifacts: data sets that are uploaded by address, or with the wandb SDK
--

-- A name stands for a row of immutable versions.
CREATE TABLE training.artifacts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  project text NOT NULL,
  name text NOT NULL,
  type text NOT NULL DEFAULT 'dataset',
  description text,
  last_version integer NOT NULL DEFAULT -1, -- the highest ever given: never reused
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (entity, project, name)
);

CREATE TABLE training.artifact_versions (
  id uuid PRIMARY KEY,
  artifact_id uuid NOT NULL REFERENCES training.artifacts ON DELETE CASCADE,
  version integer NOT NULL,
  digest text NOT NULL, -- sha256 of its list of files and its metadata
  manifest_digest text, -- wandb's digest of paths and md5s, in hex. Null: not computed yet
  size bigint NOT NULL, -- of all files, in bytes
  -- By path. Members: path, size, and one of digest (the sha256 of a blob), key (of another object in the store) and ref (an
  -- address elsewhere). md5 in hex, if it is known; etag and extra of references.
  files jsonb NOT NULL,
  metadata json NOT NULL, -- as it came: jsonb has no NUL in texts
  description text,
  tags text[] NOT NULL DEFAULT '{}',
  run_name text, -- the run that logged it
  client_id text,
  key_id uuid NOT NULL, -- the key that uploaded it
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz,
  UNIQUE (artifact_id, version)
);
CREATE INDEX artifact_versions_manifest_digest ON training.artifact_versions (artifact_id, manifest_digest);
CREATE INDEX artifact_versions_client ON training.artifact_versions (client_id) WHERE client_id IS NOT NULL;

-- Names of versions. `latest` is none of them: it is always the newest version.
CREATE TABLE training.artifact_aliases (
  artifact_id uuid NOT NULL REFERENCES training.artifacts ON DELETE CASCADE,
  alias text NOT NULL,
  version_id uuid NOT NULL REFERENCES training.artifact_versions ON DELETE CASCADE,
  PRIMARY KEY (artifact_id, alias)
);
CREATE INDEX artifact_aliases_version ON training.artifact_aliases (version_id);

-- Files in the store by their content, once for all versions of an entity that have them: those of versions and of runs, and
-- data that were fetched for jobs. They lie at artifacts/<entity>/<object>.
CREATE TABLE training.blobs (
  entity text NOT NULL,
  digest text NOT NULL,
  md5 text, -- in hex. Clients know files by it before they upload them. Null: not known
  -- The digest of a file that arrives as a stream is known after its last byte, so its object has a name of its own.
  object text, -- the last part of its key. Null: the digest
  size bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (entity, digest)
);
CREATE INDEX blobs_md5 ON training.blobs (entity, md5) WHERE md5 IS NOT NULL;
CREATE UNIQUE INDEX blobs_object ON training.blobs (entity, object) WHERE object IS NOT NULL;

-- Versions that are being uploaded. Nobody sees them, and they have no number yet.
CREATE TABLE training.pending_artifacts (
  id uuid PRIMARY KEY,
  entity text NOT NULL,
  project text NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  key_id uuid NOT NULL,
  digest text NOT NULL, -- manifest_digest, as the client says
  aliases jsonb NOT NULL,
  metadata json NOT NULL,
  description text,
  run_name text,
  client_id text,
  manifest_md5 text, -- of the manifest's file, as the client says
  manifest_blob text, -- its sha256, when it has arrived
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pending_artifacts_entity ON training.pending_artifacts (entity, created_at);
CREATE INDEX pending_artifacts_age ON training.pending_artifacts (created_at);

-- Versions of artifacts: those that were uploaded, and the checkpoints of models. A model's name names its checkpoints only.
CREATE VIEW training.collections AS
SELECT a.id, a.entity, a.project, a.name, a.type, a.description, a.created_at, false AS is_model
FROM training.artifacts a
WHERE EXISTS (SELECT FROM training.artifact_versions v WHERE v.artifact_id = a.id)
  AND NOT EXISTS (
    SELECT FROM training.models m WHERE m.entity = a.entity AND m.project = a.project AND m.name = a.name
      AND m.deleted_at IS NULL AND m.hidden_at IS NULL)
UNION ALL
SELECT m.id, m.entity, m.project, m.name, 'lora', NULL, m.created_at, true
FROM training.models m WHERE m.deleted_at IS NULL AND m.hidden_at IS NULL;

-- Step 0 of a model is a version too. It has the model's id, and the number before that of the first checkpoint.
CREATE VIEW training.versions AS
SELECT v.id, a.id AS collection_id, a.entity, a.project, a.name, a.type, a.description AS collection_description,
  false AS is_checkpoint, v.version, v.manifest_digest, v.size, v.files, v.metadata, v.description, v.tags, v.run_name,
  v.client_id, v.created_at, v.updated_at,
  NOT EXISTS (
    SELECT FROM training.artifact_versions w WHERE w.artifact_id = a.id AND w.version > v.version) AS is_latest,
  ARRAY(SELECT s.alias FROM training.artifact_aliases s WHERE s.version_id = v.id ORDER BY s.alias) AS aliases
FROM training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id
WHERE NOT EXISTS (
  SELECT FROM training.models m WHERE m.entity = a.entity AND m.project = a.project AND m.name = a.name
    AND m.deleted_at IS NULL AND m.hidden_at IS NULL)
UNION ALL
SELECT c.id, m.id, m.entity, m.project, m.name, 'lora', NULL,
  true, c.version, s.digest,
  coalesce((SELECT sum((file->>'size')::bigint)::bigint FROM jsonb_array_elements(s.files) AS file), c.bytes, 0),
  -- Trainers write these files. Their digests and sizes are found when somebody reads them.
  coalesce(s.files, jsonb_build_array(
    jsonb_build_object('path', 'adapter_config.json', 'size', 0, 'key', 'checkpoints/' || c.id || '/adapter_config.json'),
    jsonb_build_object('path', 'adapter_model.safetensors', 'size', 0,
      'key', 'checkpoints/' || c.id || '/adapter_model.safetensors'))),
  coalesce(s.metadata, '{}'::json), s.description, coalesce(s.tags, '{}'), s.run_name, s.client_id, c.created_at, s.updated_at,
  NOT EXISTS (
    SELECT FROM training.checkpoints d WHERE d.model_id = m.id AND d.deleted_at IS NULL AND d.step > c.step),
  ARRAY(
    SELECT l.alias FROM training.aliases l WHERE l.model_id = m.id AND l.step = c.step
    -- Another checkpoint may have taken this one's alias.
    UNION SELECT 'step' || c.step WHERE NOT EXISTS (
      SELECT FROM training.aliases l WHERE l.model_id = m.id AND l.alias = 'step' || c.step)
    ORDER BY 1)
FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
LEFT JOIN training.checkpoint_versions s ON s.checkpoint_id = c.id
WHERE c.deleted_at IS NULL AND m.deleted_at IS NULL AND m.hidden_at IS NULL
UNION ALL
SELECT m.id, m.id, m.entity, m.project, m.name, 'lora', NULL, true, -1, NULL,
  (SELECT sum((file->>'size')::bigint)::bigint FROM jsonb_array_elements(s.untrained_adapter->'files') AS file),
  s.untrained_adapter->'files', '{}'::json, NULL, '{}', NULL, NULL, m.created_at, NULL::timestamptz,
  NOT EXISTS (SELECT FROM training.checkpoints c WHERE c.model_id = m.id AND c.deleted_at IS NULL),
  CASE WHEN EXISTS (SELECT FROM training.aliases l WHERE l.model_id = m.id AND l.alias = 'step0')
    THEN '{}' ELSE ARRAY['step0'] END
FROM training.models m JOIN training.base_model_sources s ON s.name = m.base_model
WHERE s.untrained_adapter IS NOT NULL AND m.deleted_at IS NULL AND m.hidden_at IS NULL;

--
-- Runs
--

-- Runs that clients of W&B's interface log to, and what they have logged.
CREATE TABLE training.runs (
  -- Names the run in the tables below. Also the order of creation.
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  project text NOT NULL,
  -- The id that clients give it. A model's run has the model's name.
  name text NOT NULL,
  key_id uuid NOT NULL,
  display_name text,
  description text,
  notes text,
  group_name text,
  job_type text,
  program text,
  repository text,
  commit_hash text,
  host text,
  tags text[] NOT NULL DEFAULT '{}',
  -- {KEY: {value}}, as clients send it.
  config jsonb NOT NULL DEFAULT '{}',
  summary jsonb NOT NULL DEFAULT '{}',
  -- running, finished, failed, killed, preempted or pending. A running run without a heartbeat counts as crashed.
  state text NOT NULL DEFAULT 'running',
  exit_code integer,
  -- Its machine is about to be taken away.
  preempting boolean NOT NULL DEFAULT false,
  -- Somebody asked it to stop. Its client reads this.
  stopping boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  deleted_at timestamptz,
  -- The number of the line after the last one.
  history_lines bigint NOT NULL DEFAULT 0,
  event_lines bigint NOT NULL DEFAULT 0,
  output_lines bigint NOT NULL DEFAULT 0,
  -- The last step in the history; -1 before the first one.
  last_step bigint NOT NULL DEFAULT -1,
  -- Of all its lines.
  bytes bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX runs_by_name ON training.runs (entity, project, name) WHERE deleted_at IS NULL;
CREATE INDEX runs_by_project ON training.runs (entity, project, number);
CREATE INDEX runs_deleted ON training.runs (deleted_at) WHERE deleted_at IS NOT NULL;

-- One line of what a run writes, as it was written. A line that arrives again replaces itself.
CREATE TABLE training.run_lines (
  run bigint NOT NULL REFERENCES training.runs,
  -- 0: history, 1: events (metrics of the machine), 2: output
  stream smallint NOT NULL,
  line integer NOT NULL,
  -- Of history only: its step, and its set of keys. Null: the run has too many sets.
  step bigint,
  key_set smallint,
  text text NOT NULL,
  PRIMARY KEY (run, stream, line)
);

-- Pages and samples of the history are chosen in the index, without reading texts.
CREATE INDEX run_lines_by_step ON training.run_lines (run, step, line) INCLUDE (key_set) WHERE stream = 0;

-- The sets of keys that the lines of a run's history have. Most runs have few, however many lines they have.
CREATE TABLE training.run_key_sets (
  run bigint NOT NULL REFERENCES training.runs,
  number smallint NOT NULL,
  digest bytea NOT NULL,
  -- {KEY: TYPE}
  keys jsonb NOT NULL,
  lines bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (run, number),
  UNIQUE (run, digest)
);

-- Files of a run. Their bytes are files of the entity (training.blobs), so that equal ones are stored once.
CREATE TABLE training.run_files (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  run bigint NOT NULL REFERENCES training.runs,
  entity text NOT NULL,
  path text NOT NULL,
  digest text NOT NULL,
  size bigint NOT NULL,
  -- In hex.
  md5 text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (run, path)
);
CREATE INDEX run_files_by_digest ON training.run_files (entity, digest);

--
-- Usage
--

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
-- Claims sum the GPU seconds of a day: those of chats are 0.
CREATE INDEX usage_of_gpus ON training.usage (entity, hour) INCLUDE (gpu_seconds) WHERE gpu_seconds > 0;

-- The last batch that each gateway process has written, so that a batch that is sent again counts once.
CREATE TABLE training.usage_writers (
  process uuid PRIMARY KEY,
  batch bigint NOT NULL,
  written_at timestamptz NOT NULL
);

--
-- Responses
--

-- Responses that clients can read again and go on from, 30 days after the last of their conversation.
CREATE TABLE training.responses (
  id text PRIMARY KEY,
  entity text NOT NULL,
  -- What its usage is charged to. Null for a base model's response that names no project.
  project text,
  -- The response that it goes on from. That one may be gone.
  previous_id text,
  -- The first of its conversation.
  root_id text NOT NULL,
  -- When it was asked for.
  created_at timestamptz NOT NULL,
  -- Of both texts.
  bytes bigint NOT NULL,
  -- JSON: the items of its own input, and the response as it was answered. jsonb takes no NUL in a text.
  input text NOT NULL,
  response text NOT NULL
);
CREATE INDEX responses_by_entity ON training.responses (entity, created_at DESC, id) INCLUDE (bytes);
CREATE INDEX responses_by_root ON training.responses (root_id, created_at);
CREATE INDEX responses_by_time ON training.responses (created_at);

--
-- Changes that somebody may watch, and webhooks
--

-- Changes of state that somebody may watch, each written in the transaction that makes it. `id` is given when a row is
-- written, and a row may be committed after one with a higher id; a reader that goes by it could miss one. So the
-- operator's leader gives every committed row its `position`, one transaction after the other (outbox_head is locked
-- meanwhile): what a reader sees behind its last position is all that it has not seen. The rows of one subject are
-- written under its row's lock, so their positions are in the order of its changes.
CREATE TABLE training.outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  position bigint UNIQUE,
  event_id uuid NOT NULL DEFAULT gen_random_uuid(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  entity text NOT NULL,
  project text NOT NULL,
  kind text NOT NULL, -- training_job.STATE, model.created, model.deleted
  subject_id uuid NOT NULL, -- the job, the model
  data jsonb NOT NULL -- how it stood then
);
CREATE INDEX outbox_unnumbered ON training.outbox (id) WHERE position IS NULL;
CREATE INDEX outbox_by_entity ON training.outbox (entity, position);
CREATE INDEX outbox_by_age ON training.outbox (at);
CREATE TABLE training.outbox_head (position bigint NOT NULL);
INSERT INTO training.outbox_head VALUES (0);

-- Wakes the operator, which numbers and delivers.
CREATE FUNCTION training.notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY training_outbox;
  RETURN NULL;
END
$$;
CREATE TRIGGER outbox_written AFTER INSERT ON training.outbox FOR EACH STATEMENT
  EXECUTE FUNCTION training.notify_outbox();

-- A job has a step once a checkpoint has it: the number in its row is only reserved, and may go to another job.
CREATE FUNCTION training.record_job_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO training.outbox (entity, project, kind, subject_id, data)
  SELECT entity, project, 'training_job.' || lower(NEW.state), NEW.id, jsonb_build_object('id', NEW.id,
    'model_id', NEW.model_id, 'entity', entity, 'project', project, 'model_name', name, 'method', NEW.method,
    'state', NEW.state, 'attempt', NEW.attempt,
    'step', (SELECT c.step FROM training.checkpoints c WHERE c.job_id = NEW.id), 'failure', NEW.failure,
    'warnings', NEW.creation_warnings || NEW.training_warnings,
    'created_at', NEW.created_at, 'started_at', NEW.started_at, 'finished_at', NEW.finished_at)
  FROM training.models WHERE id = NEW.model_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER job_state_made AFTER INSERT ON training.jobs FOR EACH ROW EXECUTE FUNCTION training.record_job_state();
CREATE TRIGGER job_state_changed AFTER UPDATE OF state ON training.jobs FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION training.record_job_state();

CREATE FUNCTION training.record_model_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO training.outbox (entity, project, kind, subject_id, data)
  VALUES (NEW.entity, NEW.project, TG_ARGV[0], NEW.id, jsonb_build_object('id', NEW.id, 'entity', NEW.entity,
    'project', NEW.project, 'name', NEW.name, 'base_model', NEW.base_model, 'created_at', NEW.created_at));
  RETURN NULL;
END
$$;
CREATE TRIGGER model_made AFTER INSERT ON training.models FOR EACH ROW
  EXECUTE FUNCTION training.record_model_change('model.created');
CREATE TRIGGER model_deleted AFTER UPDATE OF deleted_at ON training.models FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
  EXECUTE FUNCTION training.record_model_change('model.deleted');

-- A deleted one keeps its row, for the cursors that name it.
CREATE TABLE training.webhooks (
  id uuid PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY, -- in lists
  entity text NOT NULL,
  project text, -- null: all of them
  url text NOT NULL,
  events text[] NOT NULL,
  description text,
  -- What deliveries are signed with, encrypted with a key that the database does not have. Null: the webhook is deleted.
  sealed_secret text,
  sealed_old_secret text, -- they are signed with this one too until the time below
  old_secret_until timestamptz,
  failures integer NOT NULL DEFAULT 0, -- attempts that failed since the last that did not
  retry_at timestamptz NOT NULL DEFAULT '-infinity', -- nothing is sent before
  key_id uuid NOT NULL, -- the key that made it
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);
CREATE INDEX webhooks_by_entity ON training.webhooks (entity, position);

CREATE TABLE training.webhook_deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  webhook_id uuid NOT NULL REFERENCES training.webhooks,
  position bigint NOT NULL REFERENCES training.outbox (position) ON DELETE CASCADE,
  subject_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  last_status integer, -- of the HTTP answer; null: there was none
  last_error text,
  next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  gives_up_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '24 hours',
  claim uuid, -- the attempt that is under way
  claimed_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  delivered_at timestamptz,
  UNIQUE (webhook_id, position)
);
CREATE INDEX webhook_deliveries_by_position ON training.webhook_deliveries (position);
CREATE INDEX webhook_deliveries_due ON training.webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_in_order ON training.webhook_deliveries (webhook_id, subject_id, position)
  WHERE state = 'pending';
CREATE INDEX webhook_deliveries_claimed ON training.webhook_deliveries (webhook_id) WHERE claim IS NOT NULL;

--
-- Deletions
--

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

--
-- The artifact store
--

-- Who we are. The same id stands in the artifact store, and what removes from it looks at both.
CREATE TABLE training.installation (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  claim_wanted boolean NOT NULL DEFAULT false, -- somebody says that the store is ours, whatever stands in it
  trouble text, -- why nothing is removed from the store; null: things are
  removal_paused_until timestamptz, -- until then nothing is removed from it: for backups
  -- Where the operator of this installation works: its namespace, and the object there that has our id. Null: no operator
  -- has worked yet.
  operator_namespace text,
  operator_namespace_uid text, -- of the object: another one is another cluster, or the namespace was made anew
  operator_seen_at timestamptz, -- when an operator last worked there
  -- The secret that signs short-lived links, for all processes of this installation: 32 bytes, of which 244 bits are random.
  link_secret bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);
INSERT INTO training.installation DEFAULT VALUES;

-- Every mark that we have put into the store. A database that does not know the one that stands there is a copy of an
-- earlier time, or has a twin.
CREATE TABLE training.store_marks (
  mark uuid PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT now()
);

-- Keys of the store under which somebody writes just now, for rows that are still to come: nobody removes what is there.
CREATE TABLE training.held_keys (
  key text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  held_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '6 hours', -- unless its process has renewed it
  PRIMARY KEY (key, holder)
);
CREATE INDEX held_keys_by_age ON training.held_keys (held_at);

-- What lies in the store and no row points at. It stays where it is until it is removed, seven days later.
CREATE TABLE training.garbage (
  prefix text PRIMARY KEY,
  quarantined_at timestamptz NOT NULL DEFAULT now(),
  bytes bigint NOT NULL,
  unseen boolean NOT NULL DEFAULT false, -- the database had never heard of it
  kept_at timestamptz -- it is not to be removed, somebody said
);
-- What of the garbage is an entity's: payloads/<entity>/..., artifacts/<entity>/..., traces/<entity>/...
CREATE INDEX garbage_by_entity ON training.garbage (split_part(prefix, '/', 2)) WHERE kept_at IS NULL;

--
-- What gateways keep in memory
--

-- Gateways keep keys, sessions, limits, models and loaded adapters in memory. These notifications say what has changed of
-- them: `key:ID`, `session:ID`, `entity:NAME`, `model:ENTITY/PROJECT/NAME`, `base-models`, `adapters:POD`, or `all`.
-- db/changes.ts listens.
CREATE FUNCTION training.notify_change(tag text) RETURNS void LANGUAGE sql AS $$
  -- Postgres takes less than 8000 bytes.
  SELECT pg_notify('changes', CASE WHEN octet_length(tag) < 4000 THEN tag ELSE 'all' END)
$$;

-- A statement that changes more than this many keys or models of an entity is told in one word.
CREATE FUNCTION training.max_change_tags() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 100';

CREATE FUNCTION training.notify_models(ids uuid[]) RETURNS void LANGUAGE sql AS $$
  SELECT training.notify_change(tag) FROM (
    SELECT DISTINCT CASE WHEN count(*) OVER (PARTITION BY entity) > training.max_change_tags() THEN 'entity:' || entity
      ELSE 'model:' || entity || '/' || project || '/' || name END AS tag
    FROM training.models WHERE id = ANY (ids)
  ) AS tags
$$;

CREATE FUNCTION training.notify_keys_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change(tag) FROM (
    SELECT DISTINCT CASE WHEN count(*) OVER (PARTITION BY b.entity) > training.max_change_tags()
      THEN 'entity:' || b.entity ELSE 'key:' || b.id END AS tag
    FROM old_rows b JOIN new_rows a USING (id)
    WHERE (b.digest, b.entity, b.role, b.revoked_at, b.expires_at, b.trace_project)
      IS DISTINCT FROM (a.digest, a.entity, a.role, a.revoked_at, a.expires_at, a.trace_project)
  ) AS tags;
  RETURN NULL;
END
$$;
CREATE TRIGGER keys_updated AFTER UPDATE ON auth.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_keys_updated();

-- A new key was asked for by nobody, so that only its removal is told. Equal notifications of a transaction are sent once.
CREATE FUNCTION training.notify_entity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('entity:' || coalesce(NEW.entity, OLD.entity));
  RETURN NULL;
END
$$;
CREATE TRIGGER keys_deleted AFTER DELETE ON auth.api_keys FOR EACH ROW EXECUTE FUNCTION training.notify_entity();
CREATE TRIGGER limits_added_or_removed AFTER INSERT OR DELETE ON auth.entities
  FOR EACH ROW EXECUTE FUNCTION training.notify_entity();
CREATE TRIGGER limits_updated AFTER UPDATE ON auth.entities FOR EACH ROW
  WHEN (
    (OLD.requests_per_minute, OLD.tokens_per_minute, OLD.concurrent_streams, OLD.event_streams, OLD.stored_bytes,
     OLD.weight, OLD.trace_project) IS DISTINCT FROM
    (NEW.requests_per_minute, NEW.tokens_per_minute, NEW.concurrent_streams, NEW.event_streams, NEW.stored_bytes,
     NEW.weight, NEW.trace_project)
  )
  EXECUTE FUNCTION training.notify_entity();

CREATE FUNCTION training.notify_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('session:' || OLD.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER sessions_changed AFTER UPDATE OR DELETE ON auth.sessions
  FOR EACH ROW EXECUTE FUNCTION training.notify_session();

CREATE FUNCTION training.notify_base_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('base-models');
  RETURN NULL;
END
$$;
CREATE TRIGGER base_models_changed AFTER INSERT OR UPDATE OR DELETE ON training.base_models
  FOR EACH ROW EXECUTE FUNCTION training.notify_base_models();

CREATE FUNCTION training.notify_models_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(id)) FROM new_rows;
  RETURN NULL;
END
$$;
CREATE TRIGGER models_inserted AFTER INSERT ON training.models REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_inserted();
-- Whoever removes rows has marked them as deleted before. This is for people who do not.
CREATE TRIGGER models_removed AFTER DELETE ON training.models FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION training.notify_entity();

CREATE FUNCTION training.notify_models_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Names never change.
  PERFORM training.notify_models(array_agg(id)) FROM old_rows b JOIN new_rows a USING (id)
  WHERE (b.base_model, b.hidden_at, b.deleted_at) IS DISTINCT FROM (a.base_model, a.hidden_at, a.deleted_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER models_updated AFTER UPDATE ON training.models REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_updated();

CREATE FUNCTION training.notify_models_of_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(model_id)) FROM changed_rows;
  RETURN NULL;
END
$$;
CREATE TRIGGER checkpoints_inserted AFTER INSERT ON training.checkpoints REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();
CREATE TRIGGER aliases_inserted AFTER INSERT ON training.aliases REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();
CREATE TRIGGER aliases_updated AFTER UPDATE ON training.aliases REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();
CREATE TRIGGER aliases_deleted AFTER DELETE ON training.aliases REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_models_of_rows();

CREATE FUNCTION training.notify_checkpoints_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(a.model_id)) FROM old_rows b JOIN new_rows a USING (id)
  WHERE (b.step, b.deleted_at) IS DISTINCT FROM (a.step, a.deleted_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER checkpoints_updated AFTER UPDATE ON training.checkpoints
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_checkpoints_updated();

CREATE FUNCTION training.notify_checkpoints_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_models(array_agg(model_id)) FROM old_rows WHERE deleted_at IS NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER checkpoints_deleted AFTER DELETE ON training.checkpoints REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_checkpoints_deleted();

-- Gateways get `adapters:POD`, and the operator the models whose status shows it.
CREATE FUNCTION training.notify_engine_adapters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('adapters:' || pod_name) FROM (SELECT DISTINCT pod_name FROM changed_rows) AS pods;
  PERFORM pg_notify('training_models', model_id::text)
  FROM (SELECT DISTINCT c.model_id FROM changed_rows r JOIN training.checkpoints c ON c.id = r.checkpoint_id) AS models;
  RETURN NULL;
END
$$;
CREATE TRIGGER engine_adapters_added AFTER INSERT ON training.engine_adapters REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_engine_adapters();
CREATE TRIGGER engine_adapters_updated AFTER UPDATE ON training.engine_adapters REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_engine_adapters();
CREATE TRIGGER engine_adapters_removed AFTER DELETE ON training.engine_adapters REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_engine_adapters();
