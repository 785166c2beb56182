import type { Pool } from '../pool.ts'

/** The layers of a base model's text decoder that get no adapter. */
export interface UntrainedLayers {
  layers: string[]
  /** Of the decoder's weights: 0 to 1. */
  share: number
}

/** Records what a trainer has found. A base model that is not registered is left out. */
export async function recordUntrainedLayers(pool: Pool, baseModel: string, untrained: UntrainedLayers): Promise<void> {
  await pool.query(
    `UPDATE training.base_model_sources SET untrained_layers = $2
     WHERE name = $1 AND untrained_layers IS DISTINCT FROM $2`,
    [baseModel, { layers: untrained.layers, share: untrained.share }],
  )
}

/** The layers without an adapter, by the base model's canonical name. Undefined until a trainer has loaded it. */
export async function findUntrainedLayers(pool: Pool, baseModel: string): Promise<UntrainedLayers | undefined> {
  const { rows } = await pool.query<{ untrained: UntrainedLayers | null }>(
    'SELECT untrained_layers AS untrained FROM training.base_model_sources WHERE name = $1',
    [baseModel],
  )
  return rows[0]?.untrained ?? undefined
}
