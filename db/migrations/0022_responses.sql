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
