-- Where the operator of this installation works: its namespace, and the object there that has our id. Null: no operator
-- has worked yet that writes it down.
ALTER TABLE training.installation
  ADD COLUMN home_namespace text,
  ADD COLUMN home_uid text, -- of the object: another one is another cluster, or the namespace was made anew
  ADD COLUMN home_seen_at timestamptz; -- when an operator last worked there
