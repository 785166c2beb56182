import { labels } from '../crds/names.ts'
import type { Context } from './context.ts'
import { isReady, type Pod } from '../lib/kube/objects.ts'

/** The engine pods of a base model (by its resource name) that are Ready and have an address. */
export function listReadyEngines({ pods }: Pick<Context, 'pods'>, baseModelCrName: string): Pod[] {
  return pods
    .list()
    .filter(({ metadata, status }) => {
      const found = metadata.labels?.[labels.baseModel] === baseModelCrName
      return found && metadata.labels?.[labels.component] === 'engine' && status?.podIP !== undefined
    })
    .filter(isReady)
}
