-- Tokens of chats, of prompts and sampled. Null: the installation's default. Infinity: no limit.
ALTER TABLE auth.entities ADD COLUMN tokens_per_minute double precision CHECK (tokens_per_minute >= 0);

DROP TRIGGER limits_updated ON auth.entities;
CREATE TRIGGER limits_updated AFTER UPDATE ON auth.entities FOR EACH ROW
  WHEN (
    (OLD.requests_per_minute, OLD.tokens_per_minute, OLD.concurrent_streams, OLD.event_streams, OLD.stored_bytes,
     OLD.weight) IS DISTINCT FROM
    (NEW.requests_per_minute, NEW.tokens_per_minute, NEW.concurrent_streams, NEW.event_streams, NEW.stored_bytes,
     NEW.weight)
  )
  EXECUTE FUNCTION training.notify_entity();
