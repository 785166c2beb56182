import { runSettings } from '../runs/table.ts'

// A row of a run, of one of its files, or of an artifact, with its part of the indexes. Without it, a million empty runs
// were free.
const rowBytes = 512

interface CountedTable {
  /** Its columns that contain texts of tenants. */
  columns: readonly string[]
  /** SQL of other bytes of a row. */
  more: string | number
  /** SQL of the rows `t` of the entity $1. */
  where: string
}

/** The tables of Postgres, beside those of traces, whose texts count as stored bytes. */
export const countedTables: Readonly<Record<string, CountedTable>> = {
  'training.runs': {
    columns: ['config', 'summary', ...Object.values(runSettings).map(({ name }) => name)],
    // Its lines and their keys.
    more: `bytes + ${rowBytes}`,
    where: 't.entity = $1',
  },
  'training.run_files': { columns: [], more: rowBytes, where: 't.entity = $1' },
  'training.responses': { columns: [], more: 'bytes', where: 't.entity = $1' },
  'training.jobs': {
    columns: ['config', 'experimental_config', 'training_data_url'],
    more: 0,
    // Jobs stay when their model is deleted. Nobody could make room otherwise.
    where: 't.model_id IN (SELECT id FROM training.models WHERE entity = $1 AND files_removed_at IS NULL)',
  },
  'training.artifacts': { columns: ['description'], more: 0, where: 't.entity = $1' },
  'training.artifact_versions': {
    columns: ['files', 'metadata', 'description', 'tags'],
    more: rowBytes,
    where: 't.artifact_id IN (SELECT id FROM training.artifacts WHERE entity = $1)',
  },
  'training.pending_artifacts': {
    columns: ['aliases', 'metadata', 'description'],
    more: rowBytes,
    where: 't.entity = $1',
  },
  'training.checkpoint_versions': {
    columns: ['files', 'metadata', 'description', 'tags'],
    more: 0,
    where: `t.checkpoint_id IN (SELECT c.id FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
      WHERE m.entity = $1)`,
  },
}

/** SQL of the bytes of an entity's texts. */
export const sqlStoredTexts = Object.entries(countedTables)
  .map(([table, { columns, more, where }]) => {
    const sizes = [...columns.map((name) => `coalesce(pg_column_size(${name}), 0)`), more]
    return `(SELECT coalesce(sum(${sizes.join(' + ')}), 0) FROM ${table} t WHERE ${where})`
  })
  .join(' + ')
