import { isReservedProject } from '../../crds/names.ts'
import type { HttpContext } from '../../lib/http/context.ts'
import type { Exchange } from '../../lib/http/exchange.ts'
import type { RequestState } from '../accounts/context.ts'
import { requireRole } from '../accounts/keys/require-key.ts'
import type { ChatTokens } from '../accounts/usage/ledger.ts'
import type { EngineReply } from './reply/engine-reply.ts'
import { isEventStream } from './reply/engine-reply.ts'

const traceHeader = 'Trainyard-Trace'

/** What a recorded request is called: as weave calls the calls of the openai SDK. */
export type TracedOperation = 'openai.chat.completions.create' | 'openai.completions.create' | 'openai.responses.create'

/** What a chat was, when it is over. */
export interface ChatOutcome {
  /** Of the entity. */
  project: string
  isStream: boolean
  model: string
  tokens: ChatTokens
  hasLeft: boolean
  /** What has broken it off, where the reply does not say it. */
  error?: string | undefined
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
  begin: (state: RequestState, operation: TracedOperation) => ChatTrace
}

/** A trace that is gathered. */
export interface BegunTrace extends ChatTrace {
  /** Where it is to be written; undefined for the project that the chat is charged to. */
  project: string | undefined
}

/** A request that may be recorded. */
export interface Traceable {
  operation: TracedOperation
  state: RequestState
  /** What the client wants the usage charged to. */
  project: string | undefined
}

/** Of a request and its answer. */
type Headers = Pick<HttpContext, 'get'> & { set: (name: string, value: string) => void }

/**
 * Begins to record a request: where its header says so, else where its key or entity is set to.
 *
 * @throws {HttpError} 403 for a header with a key that may not write
 */
export function beginTrace(traces: ChatTraces, headers: Headers, request: Traceable): BegunTrace | undefined {
  const { operation, state, project } = request
  const traceProject = state.caller.traceProject ?? undefined
  const wanted = headers.get(traceHeader).trim().toLowerCase()
  const isAsked = wanted === 'true'
  if (wanted === 'false' || (!isAsked && traceProject === undefined)) return undefined
  // What an admin has set holds for keys of each role.
  if (isAsked) requireRole(state.caller, 'member')
  return { ...traces.begin(state, operation), project: (isAsked ? project : undefined) ?? traceProject }
}

/** The project that a trace is written to; undefined when there is none. */
export function chooseProject(trace: BegunTrace, headers: Headers, charged: string | null): string | undefined {
  const project = trace.project ?? charged
  if (project !== null && !isReservedProject(project)) return project
  headers.set('Trainyard-Warning', `${traceHeader} needs the header Vendor-Project: ENTITY/PROJECT. It was ignored.`)
  return undefined
}

/** Follows a reply that has begun until it is out. */
export function followReply(trace: BegunTrace, exchange: Exchange, reply: EngineReply): void {
  const { meter, names, response } = reply
  const project = chooseProject(trace, exchange, reply.project)
  if (project === undefined) return trace.abandon()
  reply.tap = trace.keepReply
  exchange.whenClosed(() => {
    const { hasLeft } = exchange.client
    const isStream = isEventStream(response)
    trace.end({ project, isStream, model: names.requestedName, tokens: meter.tokens, hasLeft })
  })
}
