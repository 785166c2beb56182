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

CREATE FUNCTION training.note_job_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO training.outbox (entity, project, kind, subject_id, data)
  SELECT entity, project, 'training_job.' || lower(NEW.state), NEW.id, jsonb_build_object('id', NEW.id,
    'model_id', NEW.model_id, 'entity', entity, 'project', project, 'model_name', name, 'method', NEW.method,
    'state', NEW.state, 'attempt', NEW.attempt, 'step', NEW.step, 'failure', NEW.failure,
    'created_at', NEW.created_at, 'started_at', NEW.started_at, 'finished_at', NEW.finished_at)
  FROM training.models WHERE id = NEW.model_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER job_state_made AFTER INSERT ON training.jobs FOR EACH ROW EXECUTE FUNCTION training.note_job_state();
CREATE TRIGGER job_state_changed AFTER UPDATE OF state ON training.jobs FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION training.note_job_state();

CREATE FUNCTION training.note_model() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO training.outbox (entity, project, kind, subject_id, data)
  VALUES (NEW.entity, NEW.project, TG_ARGV[0], NEW.id, jsonb_build_object('id', NEW.id, 'entity', NEW.entity,
    'project', NEW.project, 'name', NEW.name, 'base_model', NEW.base_model, 'created_at', NEW.created_at));
  RETURN NULL;
END
$$;
CREATE TRIGGER model_made AFTER INSERT ON training.models FOR EACH ROW
  EXECUTE FUNCTION training.note_model('model.created');
CREATE TRIGGER model_deleted AFTER UPDATE OF deleted_at ON training.models FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION training.note_model('model.deleted');

-- Wakes the operator, which numbers and delivers.
CREATE FUNCTION training.notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY training_outbox;
  RETURN NULL;
END
$$;
CREATE TRIGGER outbox_written AFTER INSERT ON training.outbox FOR EACH STATEMENT
  EXECUTE FUNCTION training.notify_outbox();

-- A deleted one keeps its row, for the cursors that name it.
CREATE TABLE training.webhooks (
  id uuid PRIMARY KEY,
  place bigint GENERATED ALWAYS AS IDENTITY, -- in lists
  entity text NOT NULL,
  project text, -- null: all of them
  url text NOT NULL,
  events text[] NOT NULL,
  description text,
  secret text NOT NULL, -- what deliveries are signed with, so not only its digest
  old_secret text, -- they are signed with this one too until the time below
  old_secret_until timestamptz,
  failures integer NOT NULL DEFAULT 0, -- attempts that failed since the last that did not
  retry_at timestamptz NOT NULL DEFAULT '-infinity', -- nothing is sent before
  key_id uuid NOT NULL, -- the key that made it
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);
CREATE INDEX webhooks_by_entity ON training.webhooks (entity, place);

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
