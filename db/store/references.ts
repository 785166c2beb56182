import { sqlPart, sqlUri } from '../../artifacts/layout.ts'
import type { Connection } from '../pool.ts'
import { isBlobNeeded } from '../artifacts/blobs.ts'
import { unfinished } from '../jobs/states.ts'

/** Whether rows refer to a stored unit, or ever did. */
export interface UnitReference {
  prefix: string
  referenced: boolean
  /** The database has no trace of it. */
  unseen: boolean
}

const checkpoint = `${sqlPart('checkpoint', 'checkpoint', 'prefix')}::uuid`

// Few rows: one for each base model.
const isUntrained = `EXISTS (
  SELECT FROM training.base_model_sources s WHERE s.untrained_adapter->>'uri' = ${sqlUri('prefix')})`

/**
 * Looks up checkpoints by `checkpoints/<id>`, and the adapters that training starts from. The files of deleted checkpoints belong to the deletion until it has
 * removed them.
 */
export const referToCheckpoints = referBy(
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = ${checkpoint} AND c.files_removed_at IS NULL)
     OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = ${checkpoint}
                AND j.state ${unfinished})
     OR ${isUntrained}`,
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = ${checkpoint})
     OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = ${checkpoint})
     OR ${isUntrained}`,
)

const trainedCheckpoint = `${sqlPart('statistics', 'checkpoint', 'prefix')}::uuid`

/** Looks up token statistics by `token-statistics/<checkpoint>.parquet`. The report comes after the file. */
export const referToStatistics = referBy(
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = ${trainedCheckpoint}
           AND c.statistics_digest IS NOT NULL AND c.files_removed_at IS NULL)`,
  `EXISTS (SELECT FROM training.checkpoints c WHERE c.id = ${trainedCheckpoint})
     OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = ${trainedCheckpoint})`,
)

const job = `${sqlPart('progress', 'job', 'prefix')}::uuid`
const save = `${sqlPart('progress', 'save', 'prefix')}::uuid`

/** Looks up saves of jobs by `progress/<job>/<id>`. */
export const referToProgress = referBy(
  `EXISTS (SELECT FROM training.job_progress p
           WHERE p.job_id = ${job} AND p.id = ${save})`,
  `EXISTS (SELECT FROM training.jobs j WHERE j.id = ${job})`,
)

/** Looks up payloads by their keys. */
export const referToPayloads = referBy(
  `EXISTS (SELECT FROM training.jobs j WHERE j.input_uri = ${sqlUri('prefix')} AND j.input_removed_at IS NULL)
     OR EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = ${sqlUri('prefix')})`,
  `EXISTS (SELECT FROM training.jobs j WHERE j.input_uri = ${sqlUri('prefix')})
     OR EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = ${sqlUri('prefix')})`,
)

// Keys of the API have a column with the name prefix too.
const blobEntity = sqlPart('blob', 'entity', 'given.prefix')
const blobObject = sqlPart('blob', 'object', 'given.prefix')

/** Looks up data set files by `artifacts/<entity>/<name of the object>`. */
export const referToBlobs = referBy(
  `EXISTS (SELECT FROM training.blobs b
           WHERE b.entity = ${blobEntity} AND (b.object = ${blobObject} OR b.object IS NULL AND b.digest = ${blobObject}))
     OR EXISTS (SELECT FROM (VALUES (${blobEntity}, ${blobObject}, NULL)) AS b (entity, digest, object)
                WHERE ${isBlobNeeded})`,
  // Removed rows are recorded as garbage. An object with a name of its own may have been stored by a process that died
  // before it had a row.
  `${blobObject} !~ '^[0-9a-f]{64}$' AND EXISTS (SELECT FROM auth.api_keys k WHERE k.entity = ${blobEntity})`,
)

/** Looks up incomplete uploads by `uploads/<entity>/<digest>`. They are known if their entity has a key. */
export const referToUploads = referBy(
  'false',
  `EXISTS (SELECT FROM auth.api_keys k WHERE k.entity = ${sqlPart('upload', 'entity', 'given.prefix')})`,
)

/** Looks up call payloads in the tracing database, by `traces/<entity>/<project number>/calls/<name>`. */
export const referToCalls = referBy(
  `EXISTS (SELECT FROM tracing.calls c WHERE c.spilled IS NOT NULL
           AND jsonb_path_query_array(c.spilled, '$.*.key') @> to_jsonb(prefix))
     OR EXISTS (SELECT FROM tracing.replaced_payloads r
                WHERE r.project = ${sqlPart('call', 'project', 'prefix')}::int AND r.key = prefix)`,
  isProjectKnown('call'),
)

/** Looks up trace files in the tracing database, by `traces/<entity>/<project number>/files/<sha256>`. */
export const referToTraceFiles = referBy(
  'EXISTS (SELECT FROM tracing.files f WHERE f.artifact_key = prefix)',
  isProjectKnown('traceFile'),
)

function isProjectKnown(kind: 'call' | 'traceFile'): string {
  return `EXISTS (SELECT FROM tracing.projects p
    WHERE p.number = ${sqlPart(kind, 'project', 'prefix')}::int AND p.entity = ${sqlPart(kind, 'entity', 'prefix')})`
}

/** @param known SQL: whether the database has a trace of an unreferenced unit */
function referBy(referenced: string, known: string) {
  return async (connection: Connection, prefixes: string[]): Promise<UnitReference[]> => {
    if (prefixes.length === 0) return []
    const { rows } = await connection.query<UnitReference>(
      `SELECT prefix, referenced, NOT referenced AND NOT (${known}) AS unseen
       FROM (SELECT prefix, ${referenced} AS referenced FROM unnest($1::text[]) AS given (prefix)) AS given`,
      [prefixes],
    )
    return rows
  }
}
