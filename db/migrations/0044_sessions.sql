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

-- Processes keep sessions in memory, as they keep keys (0019): `session:ID`.
CREATE FUNCTION training.notify_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM training.notify_change('session:' || OLD.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER sessions_changed AFTER UPDATE OR DELETE ON auth.sessions
  FOR EACH ROW EXECUTE FUNCTION training.notify_session();
