-- Artifacts of the wandb SDK are the same as data sets that are uploaded by address. A collection has a type.
ALTER TABLE training.artifacts
  ADD COLUMN type text NOT NULL DEFAULT 'dataset',
  ADD COLUMN description text;

-- Members of files: path, size, and one of digest (the sha256 of a blob), key (of another object in the store) and ref (an
-- address elsewhere). md5 in hex, if it is known; etag and extra of references.
ALTER TABLE training.artifact_versions
  ADD COLUMN manifest_digest text, -- wandb's digest of paths and md5s, in hex. Null: not computed yet
  ADD COLUMN description text,
  ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
  ADD COLUMN run_name text, -- the run that logged it
  ADD COLUMN client_id text,
  ADD COLUMN updated_at timestamptz;
CREATE INDEX artifact_versions_manifest_digest ON training.artifact_versions (artifact_id, manifest_digest);
CREATE INDEX artifact_versions_client ON training.artifact_versions (client_id) WHERE client_id IS NOT NULL;

-- Names of versions. `latest` is none of them: it is always the newest version.
CREATE TABLE training.artifact_aliases (
  artifact_id uuid NOT NULL REFERENCES training.artifacts ON DELETE CASCADE,
  alias text NOT NULL,
  version_id uuid NOT NULL REFERENCES training.artifact_versions ON DELETE CASCADE,
  PRIMARY KEY (artifact_id, alias)
);
CREATE INDEX artifact_aliases_version ON training.artifact_aliases (version_id);

-- Clients know files by their md5 before they upload them.
ALTER TABLE training.blobs ADD COLUMN md5 text; -- in hex. Null: not known
CREATE INDEX blobs_md5 ON training.blobs (entity, md5) WHERE md5 IS NOT NULL;

-- Versions that are being uploaded. Nobody sees them, and they have no number yet.
CREATE TABLE training.pending_artifacts (
  id uuid PRIMARY KEY,
  entity text NOT NULL,
  project text NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  key_id uuid NOT NULL,
  digest text NOT NULL, -- manifest_digest, as the client says
  aliases jsonb NOT NULL,
  metadata json NOT NULL,
  description text,
  run_name text,
  client_id text,
  manifest_md5 text, -- of the manifest's file, as the client says
  manifest_blob text, -- its sha256, when it has arrived
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pending_artifacts_entity ON training.pending_artifacts (entity, created_at);
CREATE INDEX pending_artifacts_age ON training.pending_artifacts (created_at);
