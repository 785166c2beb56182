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
