import type { JsonText } from '../../../lib/json/json-text.ts'

/** What a start says of a call. Times have the form of instants.ts. */
export interface CallStart {
  traceId: string
  opName: string
  displayName?: string | null | undefined
  parentId?: string | null | undefined
  threadId?: string | null | undefined
  turnId?: string | null | undefined
  startedAt: string
  /** A JSON object, as `inputs` is. */
  attributes: JsonText
  inputs: JsonText
  otelDump?: JsonText | null | undefined
  wbUserId: string
  wbRunId?: string | null | undefined
  wbRunStep?: number | null | undefined
}

/** What an end says of a call. */
export interface CallEnd {
  endedAt: string
  output: JsonText | null
  exception?: string | null | undefined
  /** A JSON object. */
  summary: JsonText
  wbRunStepEnd?: number | null | undefined
}

/** A call, or the part of it that was received. */
export interface CallPart {
  id: string
  start?: CallStart
  end?: CallEnd
}

/** The bytes of a part's payloads. */
export function measurePart({ start, end }: Pick<CallPart, 'start' | 'end'>): number {
  const texts = [start?.attributes, start?.inputs, start?.otelDump, end?.output, end?.summary]
  return texts.reduce((sum, text) => sum + (text?.size ?? 0), 0)
}

/** Merges the parts of each call. The later part wins. The calls are sorted by id. */
export function foldParts(parts: readonly CallPart[]): CallPart[] {
  const folded = new Map<string, CallPart>()
  for (const part of parts) {
    const known = folded.get(part.id)
    folded.set(part.id, known ? { ...known, ...part } : part)
  }
  // Writers of the same calls must lock them in one order.
  return [...folded.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
