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
