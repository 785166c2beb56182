-- The same as in the training schema, which may lie in another database.
CREATE TABLE tracing.store_marks (
  mark uuid PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tracing.held_keys (
  key text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  held_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, holder)
);
CREATE INDEX held_keys_by_age ON tracing.held_keys (held_at);

-- Which calls an object of the store belongs to. Hardly any call is in it.
CREATE INDEX calls_spilled_keys ON tracing.calls USING gin (jsonb_path_query_array(spilled, '$.*.key'))
  WHERE spilled IS NOT NULL;
CREATE INDEX files_by_artifact_key ON tracing.files (artifact_key) WHERE artifact_key IS NOT NULL;
