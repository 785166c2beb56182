import { readMaxLoraRank } from '../../../../crds/max-lora-rank.ts'
import type { BaseModel } from '../../../../crds/generated.ts'
import { findBaseModel } from '../../../../db/base-models/base-models.ts'
import { findTrainedOn } from '../../../../db/base-models/sources.ts'
import type { Pool } from '../../../../db/pool.ts'
import type { AdapterBounds } from './config.ts'

/** What a base model allows of adapters. Its engines load no adapter of a higher rank. */
export async function readBounds(pool: Pool, name: string): Promise<AdapterBounds> {
  const [row, trainedOn] = await Promise.all([findBaseModel(pool, name), findTrainedOn(pool, name)])
  const lora = trainedOn?.lora ?? {}
  return {
    bases: [name, ...(row?.names ?? []), ...listSources(trainedOn?.source ?? {})],
    maxRank: row?.maxLoraRank ?? readMaxLoraRank({ lora }),
    targets: lora.targetModules,
  }
}

/** The texts that may name the weights in the configuration of an adapter. */
function listSources({ path, hub, s3, pvc }: Partial<BaseModel['spec']['source']>): string[] {
  return [path, hub?.id, s3?.uri, pvc?.path].filter((text) => text !== undefined)
}
