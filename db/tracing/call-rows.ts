/** Where a payload lies that is too large for its row, and its size in bytes. */
export interface SpilledPart {
  key: string
  size: number
}

/** The columns of payloads, which are JSON texts in UTF-8. */
export type Payload = 'attributes' | 'inputs' | 'otel_dump' | 'output' | 'summary'

/** A call, or what has come of it. Times are ISO texts in UTC with microseconds. */
export interface CallRow {
  week: number
  project: number
  id: string
  start: StartColumns | undefined
  end: EndColumns | undefined
  payloads: Partial<Record<Payload, Buffer | undefined>>
  /** Of the payloads, in bytes. */
  startSize: number
  endSize: number
  spilled: Partial<Record<Payload, SpilledPart>> | undefined
}

export interface StartColumns {
  traceId: string
  opName: string
  displayName: string | null
  parentId?: string | null | undefined
  threadId?: string | null | undefined
  turnId?: string | null | undefined
  startedAt: string
  inputRefs: string[] | undefined
  wbUserId: string
  wbRunId?: string | null | undefined
  wbRunStep?: number | null | undefined
}

export interface EndColumns {
  endedAt: string
  exception?: string | null | undefined
  outputRefs: string[] | undefined
  descendantErrors: boolean
  wbRunStepEnd?: number | null | undefined
}
