-- Keys of entities, their sessions and limits, and what was done with them. The triggers of these tables tell gateways what
-- has changed: 0002_training.sql has them.

CREATE SCHEMA auth;

--
-- Keys
--

CREATE TABLE auth.api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  name text,
  role text NOT NULL DEFAULT 'admin' CHECK (role IN ('admin', 'member', 'read')),
  digest bytea NOT NULL UNIQUE, -- sha256 of the key; the key itself is shown once and stored nowhere
  prefix text, -- the first characters of the key, by which people recognise it
  trace_project text, -- that records the chats of the key; 'off' records none. Null: as its entity
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz, -- null: never
  last_used_at timestamptz,
  revoked_at timestamptz,
  replaced_by uuid REFERENCES auth.api_keys
);
CREATE INDEX api_keys_by_entity ON auth.api_keys (entity, created_at, id);

-- Sessions of browsers. A session has the rights of its key and ends with it.
CREATE TABLE auth.sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  digest bytea NOT NULL UNIQUE, -- sha256 of the cookie's value
  key_id uuid NOT NULL REFERENCES auth.api_keys ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  used_at timestamptz NOT NULL DEFAULT clock_timestamp() -- within some minutes
);
CREATE INDEX sessions_by_key ON auth.sessions (key_id, created_at);
CREATE INDEX sessions_by_use ON auth.sessions (used_at);

-- Codes of links to the console. Each opens one session. A crash of the database costs the links of ten minutes.
CREATE UNLOGGED TABLE auth.login_codes (
  digest bytea PRIMARY KEY, -- sha256
  key_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);

--
-- Limits
--

-- What an entity may use. Null: the installation's default. Infinity: no limit. An entity without a row has the defaults in
-- all.
CREATE TABLE auth.entities (
  entity text PRIMARY KEY,
  requests_per_minute double precision CHECK (requests_per_minute >= 0),
  tokens_per_minute double precision CHECK (tokens_per_minute >= 0), -- of chats: of prompts, and sampled
  concurrent_streams double precision CHECK (concurrent_streams >= 0),
  event_streams double precision CHECK (event_streams >= 0),
  queued_jobs double precision CHECK (queued_jobs >= 0),
  gpu_seconds_per_day double precision CHECK (gpu_seconds_per_day >= 0),
  stored_bytes double precision CHECK (stored_bytes >= 0),
  -- How many turns it has, against others' one, where they wait for the same.
  weight double precision CHECK (weight BETWEEN 1 AND 100),
  payload_days integer CHECK (payload_days >= 0),
  -- How many days runs are kept after their end, or after their last sign of life. Null: forever.
  run_days integer CHECK (run_days >= 0),
  -- Whose trained tokens' statistics are kept; null: those of some (`sampled`).
  token_statistics text CHECK (token_statistics IN ('off', 'sampled', 'all')),
  trace_project text, -- that records the chats of its keys. Null: none
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX entities_with_gpu_limit ON auth.entities (entity) WHERE gpu_seconds_per_day IS NOT NULL;

-- Requests of this minute, by entity, where there is a limit. The columns are those that rate-limiter-flexible asks for.
-- Unlogged: a crash of the database costs one minute's counts.
CREATE UNLOGGED TABLE auth.request_counts (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

--
-- Requests and acts
--

-- Requests that carried an Idempotency-Key, for a day: a repetition gets the answer of the first.
CREATE TABLE auth.idempotent_requests (
  entity text NOT NULL,
  key text NOT NULL,
  route text NOT NULL, -- method and path
  digest bytea NOT NULL, -- sha256 of the body
  seed uuid NOT NULL DEFAULT gen_random_uuid(), -- the ids of what it makes come from this, so that it makes nothing twice
  holder uuid NOT NULL, -- who works on it
  locked_until timestamptz NOT NULL, -- and for how long nobody else may
  answer text, -- its JSON, byte by byte; null: not answered yet
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (entity, key)
);
CREATE INDEX idempotent_requests_by_age ON auth.idempotent_requests (created_at);

-- What was done with the rights of an admin. Written in the transaction of the act; never changed, also not by an erasure,
-- so nothing that users write is in it but the names of entities and projects.
CREATE TABLE auth.audit_log (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  entity text NOT NULL,
  actor text NOT NULL, -- the id of a key, or 'command': whoever can reach the database
  action text NOT NULL,
  subject text, -- the id of a key, an erasure or a webhook, or a project's name; null: the entity
  details jsonb NOT NULL DEFAULT '{}' -- no secrets
);
CREATE INDEX audit_log_of_entity ON auth.audit_log (entity, position);

CREATE FUNCTION auth.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER audit_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON auth.audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION auth.refuse_change();
