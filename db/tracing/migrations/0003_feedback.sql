-- What people and scorers say of calls and objects.
CREATE TABLE tracing.feedback (
  project int NOT NULL,
  id text COLLATE "C" NOT NULL, -- may be the client's
  weave_ref text COLLATE "C" NOT NULL, -- what it is said of
  call_id text COLLATE "C", -- when that is a call of this project
  feedback_type text COLLATE "C" NOT NULL,
  payload json NOT NULL,
  creator text COLLATE "C",
  wb_user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  annotation_ref text COLLATE "C",
  runnable_ref text COLLATE "C",
  call_ref text COLLATE "C",
  trigger_ref text COLLATE "C",
  PRIMARY KEY (project, id)
);
CREATE INDEX feedback_by_ref ON tracing.feedback (project, weave_ref);
CREATE INDEX feedback_by_type ON tracing.feedback (project, feedback_type, call_id);
CREATE INDEX feedback_by_call ON tracing.feedback (project, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX feedback_by_age ON tracing.feedback (project, created_at, id);

-- What a project pays for tokens. Prices of the whole server come from a file.
CREATE TABLE tracing.costs (
  project int NOT NULL,
  id text COLLATE "C" NOT NULL,
  llm_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  effective_date timestamptz NOT NULL,
  prompt_token_cost double precision NOT NULL,
  completion_token_cost double precision NOT NULL,
  prompt_token_cost_unit text COLLATE "C",
  completion_token_cost_unit text COLLATE "C",
  cache_read_input_token_cost double precision NOT NULL,
  cache_creation_input_token_cost double precision NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project, id)
);
CREATE INDEX costs_by_llm ON tracing.costs (project, llm_id, effective_date);

CREATE INDEX calls_by_thread ON tracing.calls (project, thread_id) WHERE thread_id IS NOT NULL;
-- Threads are told by their turns, and these by what stands in here.
CREATE INDEX calls_by_turn ON tracing.calls (project, thread_id) INCLUDE (id, started_at, ended_at)
  WHERE id = turn_id AND thread_id IS NOT NULL AND deleted_at IS NULL;
