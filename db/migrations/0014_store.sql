-- Who we are. The same id stands in the artifact store, and what removes from it looks at both.
CREATE TABLE training.installation (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  claim_wanted boolean NOT NULL DEFAULT false, -- somebody says that the store is ours, whatever stands in it
  trouble text -- why nothing is removed from the store; null: things are
);
INSERT INTO training.installation DEFAULT VALUES;

-- Every mark that we have put into the store. A database that does not know the one that stands there is a copy of an
-- earlier time, or has a twin.
CREATE TABLE training.store_marks (
  mark uuid PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT now()
);

-- Keys of the store under which somebody writes just now, for rows that are still to come: nobody removes what is there.
CREATE TABLE training.held_keys (
  key text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  held_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, holder)
);
CREATE INDEX held_keys_by_age ON training.held_keys (held_at);

-- What is noted stays where it is until it is removed, seven days later. Of what was noted until now nobody knows whether
-- the database had ever heard of it.
DELETE FROM training.garbage;
ALTER TABLE training.garbage
  ADD COLUMN unseen boolean NOT NULL DEFAULT false, -- the database had never heard of it
  ADD COLUMN kept_at timestamptz; -- it is not to be removed, somebody said
