import type { JsonText } from '../../../lib/json/json-text.ts'

/** What is known of a call when it starts. Times are in the form of instants.ts. */
export interface CallStart {
  traceId: string
  opName: string
  displayName?: string | null | undefined
  parentId?: string | null | undefined
  threadId?: string | null | undefined
  turnId?: string | null | undefined
  startedAt: string
  /** Objects. */
  attributes: JsonText
  inputs: JsonText
  otelDump?: JsonText | null | undefined
  wbUserId: string
  wbRunId?: string | null | undefined
  wbRunStep?: number | null | undefined
}

/** What is known of it when it ends. */
export interface CallEnd {
  endedAt: string
  output: JsonText | null
  exception?: string | null | undefined
  /** An object. */
  summary: JsonText
  wbRunStepEnd?: number | null | undefined
}

/** A call, or the part of it that has come. */
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

/** Parts of the same call become one, of which the later says what both say; in the order of ids. */
export function foldParts(parts: readonly CallPart[]): CallPart[] {
  const folded = new Map<string, CallPart>()
  for (const part of parts) {
    const known = folded.get(part.id)
    folded.set(part.id, known ? { ...known, ...part } : part)
  }
  // Writers of the same calls lock them in one order.
  return [...folded.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
