/** A message from a process to the supervisor about an entity's permits. */
export type PermitRequest = Subject &
  (
    | {
        type: 'ask'
        limit: number
        wanted: number
        /** The permits that the process had and may not use at this limit. */
        returned: number
      }
    | {
        type: 'return'
        returned: number
        /** The recall that this answers. Undefined for an unrequested return. */
        round?: number
      }
  )

/** A message from the supervisor to a process. */
export type PermitAnswer = Subject & {
  /** The limit at which the process may reuse its released permits. Null for no reuse. */
  reusableAt: number | null
} & (
    | {
        type: 'answer'
        /** All answers together grant at most the requested number. The rest follows. */
        granted: number
        rejected: number
        /** The number of permits that processes have. */
        taken: number
      }
    | { type: 'recall'; round: number }
  )

interface Subject {
  /** The name of the limit. */
  name: string
  entity: string
}
