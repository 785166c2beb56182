-- What is published. The row of a name orders those who publish and delete under it, and says which version is the latest
-- one: the one published last among those that are not deleted, or, when all are, the one that was it before.
CREATE TABLE tracing.objects (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('op', 'object')),
  latest text COLLATE "C" NOT NULL, -- the digest of a version
  publications bigint NOT NULL, -- how often something was published under the name
  PRIMARY KEY (project, object_id, kind)
);

-- Rows stay when a version is deleted: its index is not given again, and publishing the same value brings it back.
CREATE TABLE tracing.object_versions (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  version_index int NOT NULL,
  publication bigint NOT NULL, -- which of the name's publications was its last
  base_object_class text COLLATE "C",
  leaf_object_class text COLLATE "C",
  val json NOT NULL, -- as it came
  size int NOT NULL, -- of val, in bytes
  wb_user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (project, object_id, kind, digest),
  UNIQUE (project, object_id, kind, version_index)
);
CREATE INDEX object_versions_created ON tracing.object_versions (project, created_at);

CREATE TABLE tracing.object_tags (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, object_id, digest, tag)
);

CREATE TABLE tracing.object_aliases (
  project int NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  alias text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, object_id, alias)
);

-- Rows of tables, once for all tables of a project that have them.
CREATE TABLE tracing.table_rows (
  project int NOT NULL,
  digest text COLLATE "C" NOT NULL,
  val json NOT NULL, -- as it came
  size int NOT NULL, -- of val, in bytes
  PRIMARY KEY (project, digest)
);

CREATE TABLE tracing.tables (
  project int NOT NULL,
  digest text COLLATE "C" NOT NULL,
  row_count int NOT NULL,
  PRIMARY KEY (project, digest)
);

-- The rows of a table in their order, 1,000 to a chunk: a page anywhere in it reads one or two chunks, and a table of
-- 100,000 rows is 100 of them. A digest may name no row: clients may send the order before the rows.
CREATE TABLE tracing.table_chunks (
  project int NOT NULL,
  table_digest text COLLATE "C" NOT NULL,
  chunk int NOT NULL, -- holds the positions from 1,000 * chunk on
  row_digests text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (project, table_digest, chunk)
);
-- Digests do not get smaller.
ALTER TABLE tracing.table_chunks ALTER COLUMN row_digests SET STORAGE EXTERNAL;

-- Small files lie here, larger ones in the artifact store; those are there before their row.
CREATE TABLE tracing.files (
  project int NOT NULL,
  digest text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  content bytea,
  artifact_key text, -- null: it lies here
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, digest),
  CHECK ((content IS NULL) <> (artifact_key IS NULL))
);
