import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import type { EngineResponse } from '../engines/engine-response.ts'
import type { ChatMeter } from './chat-meter.ts'
import type { ModelNames } from './rename-model.ts'

/** An engine's reply that has begun. */
export interface EngineReply {
  response: EngineResponse
  names: ModelNames
  /** What the request has reserved. */
  memory: RequestReservation
  meter: ChatMeter
  /** To be called once, when the reply is complete or has broken off. */
  charge: () => void
  /** What the reply is charged to; null for nothing. */
  project: string | null
  /** Gets what the client gets. */
  tap?: (bytes: Buffer) => void
}

/** Whether it is a stream of events. */
export function isEventStream({ headers }: EngineResponse): boolean {
  return String(headers['content-type']).startsWith('text/event-stream')
}
