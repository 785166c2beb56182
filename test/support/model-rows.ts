import { createHash, randomUUID } from 'node:crypto'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Pool } from '../../db/pool.ts'

/** Creates what a trainer would: rows of checkpoints and jobs of real models, and small files in the store. */
export class ModelRows {
  readonly pool: Pool
  readonly artifacts: string

  /** @param artifacts the folder of the store */
  constructor(pool: Pool, artifacts: string) {
    this.pool = pool
    this.artifacts = artifacts
  }

  folderOf(checkpointId: string): string {
    return path.join(this.artifacts, 'checkpoints', checkpointId)
  }

  /** Adds a checkpoint with its files. Returns its id. */
  async addCheckpoint(
    modelId: string,
    step: number,
    { jobId, metrics = {} }: { jobId?: string; metrics?: object } = {},
  ): Promise<string> {
    const id = randomUUID()
    const digest = await this.writeFiles(id)
    await this.pool.query(
      `INSERT INTO training.checkpoints (id, model_id, job_id, step, uri, digest, metrics)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [id, modelId, jobId ?? null, step, `artifact:///checkpoints/${id}`, digest, metrics],
    )
    await this.pool.query('UPDATE training.models SET last_step = greatest(last_step, $2) WHERE id = $1', [
      modelId,
      step,
    ])
    return id
  }

  /** Adds the file of a checkpoint's token statistics, as its trainer stores and reports it. Returns its path. */
  async addStatistics(
    checkpointId: string,
    content: string | Buffer = `statistics of ${checkpointId}`,
  ): Promise<string> {
    const file = path.join(this.artifacts, 'token-statistics', `${checkpointId}.parquet`)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
    await this.pool.query(
      `UPDATE training.checkpoints SET statistics_at = now(), statistics_digest = $2, statistics_bytes = $3
       WHERE id = $1`,
      [checkpointId, sha256(content), Buffer.byteLength(content)],
    )
    return file
  }

  /** Writes the files of a checkpoint, including optimizer state. Returns the digest of the manifest. */
  async writeFiles(checkpointId: string): Promise<string> {
    const contents: Record<string, string> = {
      'adapter_config.json': '{"peft_type": "LORA"}',
      'adapter_model.safetensors': `weights of ${checkpointId}`,
      'optimizer.safetensors': 'moments',
    }
    const files = Object.fromEntries(Object.entries(contents).map(([name, text]) => [name, sha256(text)]))
    const manifest = JSON.stringify({ files })
    await mkdir(this.folderOf(checkpointId), { recursive: true })
    for (const [name, text] of Object.entries({ ...contents, 'manifest.json': manifest })) {
      await writeFile(path.join(this.folderOf(checkpointId), name), text)
    }
    return sha256(manifest)
  }

  /** Adds a job of a model in this state, without a resource. */
  async addJob(modelId: string, state: string, inputUri = 'artifact:///payloads/none/0.json'): Promise<string> {
    const { rows } = await this.pool.query<{ id: string }>(
      `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, spec_digest, namespace,
         cr_name, resource_created_at, lease_expires_at, finished_at)
       VALUES ($1, 'RL', $2, '0a', '{}', $3, $4, 'nowhere', $4, now(), now() + interval '1 hour',
         CASE WHEN $3 = 'Succeeded' THEN now() END) RETURNING id`,
      [modelId, inputUri, state, randomUUID()],
    )
    return rows[0]!.id
  }

  async readJob(id: string): Promise<{ state: string }> {
    const { rows } = await this.pool.query<{ state: string }>('SELECT state FROM training.jobs WHERE id = $1', [id])
    return rows[0]!
  }

  async readModel(id: string) {
    const { rows } = await this.pool.query<{ hidden: boolean; cleared: boolean; purged: boolean; policy: string }>(
      `SELECT hidden_at IS NOT NULL AS hidden, files_removed_at IS NOT NULL AS cleared, rows_removed_at IS NOT NULL AS purged,
         deletion_policy AS policy FROM training.models WHERE id::text = $1`,
      [id],
    )
    return rows[0]
  }

  async makeOld(file: string, days = 10): Promise<void> {
    const time = new Date(Date.now() - days * 24 * 3600_000)
    await utimes(file, time, time)
  }
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}
