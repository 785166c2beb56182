import { conditions, reasons } from '../../crds/names.ts'
import type { UntrainedLayers } from '../../db/base-models/untrained-layers.ts'
import { buildCondition, type ConditionInput } from '../conditions.ts'

/** Whether adapters cover the text decoder. There is no condition until a trainer has loaded the base model. */
export function describeLayers(untrained: UntrainedLayers | undefined): ConditionInput[] {
  if (!untrained) return []
  const { layers, share } = untrained
  if (layers.length === 0) {
    const message = 'Every layer of the text decoder gets an adapter.'
    return [buildCondition(conditions.layersTrained, true, { reason: reasons.allLayersTrained, message })]
  }
  const percent = (share * 100).toFixed(1)
  const message = `These layers of the text decoder get no adapter (${percent} % of its weights): ${layers.join(', ')}.`
  return [buildCondition(conditions.layersTrained, false, { reason: reasons.layersNotTrained, message })]
}

/** Whether engines have the current specification, or wait for their turn. @param turnOf whose turn it is */
export function describeTurn(turnOf: string | undefined): ConditionInput {
  if (turnOf === undefined) {
    const message = 'The engines have the current specification, or are being replaced.'
    return buildCondition(conditions.enginesUpToDate, true, { reason: reasons.enginesUpToDate, message })
  }
  const message =
    `The engines have an earlier specification. They are replaced after those of the BaseModel ${turnOf}: ` +
    'when these are Ready, or after 30 minutes.'
  return buildCondition(conditions.enginesUpToDate, false, { reason: reasons.waitingForBaseModel, message })
}
