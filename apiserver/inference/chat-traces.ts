import { isReservedProject } from '../../crds/names.ts'
import type { Exchange } from '../../lib/http/exchange.ts'
import type { RequestState } from '../accounts/context.ts'
import { requireRole } from '../accounts/keys/require-key.ts'
import type { ChatTokens } from '../accounts/usage/ledger.ts'
import type { EngineReply } from './reply/engine-reply.ts'
import { isEventStream } from './reply/engine-reply.ts'

const traceHeader = 'Trainyard-Trace'

/** What a chat was, when it is over. */
export interface ChatOutcome {
  /** Of the entity. */
  project: string
  isStream: boolean
  model: string
  tokens: ChatTokens
  hasLeft: boolean
}

/** Gathers one chat for the traces. None of it fails or waits. */
export interface ChatTrace {
  /** Keeps the request as it came. */
  keepRequest: (bytes: Buffer) => void
  /** Keeps what the client gets. */
  keepReply: (bytes: Buffer) => void
  /** The chat is over: it is written some time later. */
  end: (outcome: ChatOutcome) => void
  /** The chat has no answer: nothing of it is kept. */
  abandon: () => void
}

/** Writes chats among the traces. */
export interface ChatTraces {
  begin: (state: RequestState) => ChatTrace
}

/** Begins to trace a chat whose client wants that. @throws {HttpError} 403 for a key that may not write */
export function beginTrace(traces: ChatTraces, exchange: Exchange, state: RequestState): ChatTrace | undefined {
  if (exchange.get(traceHeader).trim().toLowerCase() !== 'true') return undefined
  requireRole(state.caller, 'member')
  return traces.begin(state)
}

/** Follows a reply that has begun until it is out. */
export function followReply(trace: ChatTrace, exchange: Exchange, reply: EngineReply): void {
  const { project, meter, names, response } = reply
  if (project === null || isReservedProject(project)) {
    exchange.set('Trainyard-Warning', `${traceHeader} needs the header Vendor-Project: ENTITY/PROJECT. It was ignored.`)
    trace.abandon()
    return
  }
  reply.tap = trace.keepReply
  exchange.whenClosed(() => {
    const { hasLeft } = exchange.client
    const isStream = isEventStream(response)
    trace.end({ project, isStream, model: names.requestedName, tokens: meter.tokens, hasLeft })
  })
}
