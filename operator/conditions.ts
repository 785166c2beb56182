import type { Model } from '../crds/generated.ts'

export type Condition = NonNullable<NonNullable<Model['status']>['conditions']>[number]

/** A condition as it stands now; when it last changed is added by `mergeConditions`. */
export type Fact = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

// What the schema allows.
const maxMessage = 4000

/** The conditions for a status: a time of change stays as long as its condition's status does. */
export function mergeConditions(
  before: Condition[] | undefined,
  facts: Fact[],
  observedGeneration: number,
  now: Date,
): Condition[] {
  return facts.map((stated) => {
    const earlier = before?.find((condition) => condition.type === stated.type)
    const lastTransitionTime =
      earlier?.status === stated.status ? earlier.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z')
    return { ...stated, message: boundMessage(stated.message), lastTransitionTime, observedGeneration }
  })
}

export function boundMessage(message: string): string {
  return message.length <= maxMessage ? message : `${message.slice(0, maxMessage - 1)}…`
}

export function fact(type: string, holds: boolean, reason: string, message: string): Fact {
  return { type, status: holds ? 'True' : 'False', reason, message }
}
