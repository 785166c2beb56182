import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import type { EngineResponse } from '../engines/transport.ts'
import type { ChatMeter } from './chat-meter.ts'
import type { ModelNames } from './rename-model.ts'

/** An engine's reply that has begun. */
export interface EngineReply {
  response: EngineResponse
  names: ModelNames
  /** The memory that the request has reserved. */
  memory: RequestReservation
  meter: ChatMeter
  /** The project that is charged. Null if none is. */
  project: string | null
  /** Receives the same bytes as the client. */
  tap?: (bytes: Buffer) => void
}

/** Whether it is a stream of events. */
export function isEventStream({ headers }: EngineResponse): boolean {
  return String(headers['content-type']).startsWith('text/event-stream')
}
