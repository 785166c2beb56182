-- The digest of a file that arrives as a stream is known after its last byte. So its object has a name of its own.
ALTER TABLE training.blobs ADD COLUMN object text; -- the last part of its key. Null: the digest
CREATE UNIQUE INDEX blobs_object ON training.blobs (entity, object) WHERE object IS NOT NULL;
