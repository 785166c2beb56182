/** What a process tells the supervisor of an entity's permits. */
export type PermitRequest = Subject &
  (
    | {
        type: 'ask'
        limit: number
        wanted: number
        /** Permits that the process had and may not use at this limit. */
        returned: number
      }
    | {
        type: 'return'
        returned: number
        /** Which recall this answers; none for what comes unasked. */
        round?: number
      }
  )

/** What the supervisor tells a process. */
export type PermitAnswer = Subject & {
  /** The limit at which the process may use permits again that come back to it; null for none. */
  reusableAt: number | null
} & (
    | {
        type: 'answer'
        /** Together no more than were asked for; the rest follows. */
        granted: number
        rejected: number
        /** How many permits processes have. */
        taken: number
      }
    | { type: 'recall'; round: number }
  )

interface Subject {
  /** The name of the limit. */
  name: string
  entity: string
}
