-- The secret that signs short-lived links, for all processes of this installation: 32 bytes, of which 244 bits are random.
ALTER TABLE training.installation
  ADD COLUMN link_secret bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
