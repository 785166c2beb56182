import { isReservedProject } from '../../crds/names.ts'
import type { HttpContext } from '../../lib/http/context.ts'
import type { ClientWatch } from '../../lib/http/client-watch.ts'
import type { RequestState } from '../accounts/context.ts'
import { requireRole } from '../accounts/keys/require-key.ts'
import type { ChatTokens } from '../accounts/usage/ledger.ts'
import type { EngineReply } from './reply/engine-reply.ts'
import { isEventStream } from './reply/engine-reply.ts'

const traceHeader = 'Trainyard-Trace'

/** The operation name of a recorded request. weave uses the same names for calls of the openai SDK. */
export type TracedOperation = 'openai.chat.completions.create' | 'openai.completions.create' | 'openai.responses.create'

/** The outcome of a chat that has ended. */
export interface ChatOutcome {
  /** The project, without its entity. */
  project: string
  isStream: boolean
  model: string
  tokens: ChatTokens
  hasLeft: boolean
  /** The error that cut the reply off, if the reply does not contain it. */
  error?: string | undefined
}

/** Collects one chat for the traces. Its methods never fail, and never wait. */
export interface ChatTrace {
  /** Keeps the request as it was received. */
  keepRequest: (bytes: Buffer) => void
  /** Keeps the bytes that the client gets. */
  keepReply: (bytes: Buffer) => void
  /** The chat has ended. It is written some time later. */
  end: (outcome: ChatOutcome) => void
  /** The chat has no reply. Nothing of it is kept. */
  abandon: () => void
}

/** Writes chats as traces. */
export interface ChatTraces {
  begin: (state: RequestState, operation: TracedOperation) => ChatTrace
}

/** A trace that is being collected. */
export interface BegunTrace extends ChatTrace {
  /** The project that the trace is written to. Undefined for the project that the chat is charged to. */
  project: string | undefined
}

/** A request that may be recorded. */
export interface Traceable {
  operation: TracedOperation
  state: RequestState
  /** The project that the client wants to charge. */
  project: string | undefined
}

/** Reads headers of the request, and sets headers of the response. */
type Headers = Pick<HttpContext, 'get'> & { set: (name: string, value: string) => void }

/**
 * Begins to record a request if its header, its key or its entity asks for that. The header takes precedence.
 *
 * @throws {HttpError} 403 if the header asks for it and the key may not write
 */
export function beginTrace(traces: ChatTraces, headers: Headers, request: Traceable): BegunTrace | undefined {
  const { operation, state, project } = request
  const traceProject = state.caller.traceProject ?? undefined
  const wanted = headers.get(traceHeader).trim().toLowerCase()
  const isAsked = wanted === 'true'
  if (wanted === 'false' || (!isAsked && traceProject === undefined)) return undefined
  // A project that an admin has set applies to keys of every role.
  if (isAsked) requireRole(state.caller, 'member')
  return { ...traces.begin(state, operation), project: (isAsked ? project : undefined) ?? traceProject }
}

/** The project that a trace is written to. Undefined if there is none. */
export function chooseProject(trace: BegunTrace, headers: Headers, charged: string | null): string | undefined {
  const project = trace.project ?? charged
  if (project !== null && !isReservedProject(project)) return project
  headers.set('Trainyard-Warning', `${traceHeader} needs the header Vendor-Project: ENTITY/PROJECT. It was ignored.`)
  return undefined
}

/** Records a reply until its response is sent. */
export function followReply(
  trace: BegunTrace,
  headers: Headers,
  { client, reply }: { client: ClientWatch; reply: EngineReply },
): void {
  const { meter, names, response } = reply
  const project = chooseProject(trace, headers, reply.project)
  if (project === undefined) return trace.abandon()
  reply.tap = trace.keepReply
  client.whenOver(() => {
    const { hasLeft } = client
    const isStream = isEventStream(response)
    trace.end({ project, isStream, model: names.requestedName, tokens: meter.tokens, hasLeft })
  })
}
