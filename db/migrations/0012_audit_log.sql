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
