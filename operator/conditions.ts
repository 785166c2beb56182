import type { Model } from '../crds/generated.ts'

export type Condition = NonNullable<NonNullable<Model['status']>['conditions']>[number]

/** Why a condition holds or does not: a PascalCase word and a sentence. */
export interface StatusReason {
  reason: string
  message: string
}

/** A condition without its times. `mergeConditions` adds them. */
export type ConditionInput = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

interface ConditionedResource {
  metadata: { generation?: number }
  status?: { conditions?: Condition[] }
}

// The maximum of the schema.
const maxMessage = 4000

/**
 * Merges conditions into a status, with their generation. A condition keeps its transition time while its status stays
 * the same.
 */
export function mergeConditions(resource: ConditionedResource, inputs: ConditionInput[], now: Date) {
  const observedGeneration = resource.metadata.generation ?? 0
  const conditions = inputs.map((input) => {
    const earlier = resource.status?.conditions?.find((condition) => condition.type === input.type)
    const lastTransitionTime =
      earlier?.status === input.status ? earlier.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z')
    return { ...input, message: boundMessage(input.message), lastTransitionTime, observedGeneration }
  })
  return { observedGeneration, conditions }
}

/** The reason and message of a status, which kubectl prints. */
export function summarize({ reason, message }: StatusReason): StatusReason {
  return { reason, message: boundMessage(message) }
}

export function boundMessage(message: string): string {
  return message.length <= maxMessage ? message : `${message.slice(0, maxMessage - 1)}…`
}

export function buildCondition(type: string, holds: boolean, { reason, message }: StatusReason): ConditionInput {
  return { type, status: holds ? 'True' : 'False', reason, message }
}
