-- The secrets of webhooks, encrypted with a key that the database does not have. `secret` and `old_secret` stay for
-- processes of the earlier version: they still write them, and the operator encrypts and empties them.
ALTER TABLE training.webhooks
  ADD COLUMN sealed_secret text,
  -- As old_secret: deliveries are signed with it too until old_secret_until.
  ADD COLUMN sealed_old_secret text;

-- Until then nothing is removed from the artifact store: for backups.
ALTER TABLE training.installation ADD COLUMN removal_paused_until timestamptz;

-- What the operator has to encrypt, and what an earlier version left of deleted webhooks.
CREATE INDEX webhooks_to_seal ON training.webhooks (id)
  WHERE secret <> '' OR old_secret <> '' OR (deleted_at IS NOT NULL AND sealed_secret IS NOT NULL);
