import { isReservedProject } from '../../../crds/names.ts'
import { watchClient } from '../../inference/chat-client.ts'
import { ChatReader } from '../../inference/chat/chat-reader.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestReservation, RequestMemory } from '../../accounts/limits/request-memory.ts'
import { requireRole } from '../../accounts/keys/require-key.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { isName } from '../../accounts/names.ts'
import { readProject } from '../../accounts/usage/project-header.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import type { CallWriter } from '../calls/writer.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Project } from '../projects.ts'
import { pipeChunks } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { openChat, type Completion, type AskDeps } from './chat.ts'
import { readInputs, type ChatInputs } from './chat-inputs.ts'
import { createCompletion } from './create.ts'
import { completionAnswer, completionSchema, completionTexts, type CompletionRequest } from './schema.ts'
import { streamCompletion } from './stream.ts'
import { TrackedCall } from './tracked-call.ts'

export interface CompletionDeps extends AskDeps {
  calls: CallWriter
  log: Logger
  memory: RequestMemory
  storage: StorageUse
}

const tag = 'Completions'
const description =
  'Every model is one that is served here; `coreweave/` before its name is passed over. What goes wrong at the model is ' +
  'told in `error`, with status 200. Messages of `inputs.prompt`, a reference of a prompt, go before the others, and ' +
  '`{name}` in texts is replaced by `inputs.template_vars`. Unless `track_llm_call` is false, a call of the project ' +
  'tells of it, for which the role member is needed. Usage is charged to the project.'

/** Chats with the models of the gateway, recorded as calls. */
export function routeCompletions(api: TraceApi, deps: CompletionDeps): void {
  const request = {
    tag,
    description,
    role: 'read',
    body: completionSchema,
    texts: completionTexts,
    cost: { permit: 'concurrent_streams' },
  } as const

  api.post(
    '/completions/create',
    { ...request, summary: 'Complete a chat, and trace it', answer: completionAnswer },
    async ({ ctx, body }) => {
      return withIncomingBytes(deps.storage, ctx, body, async (incoming) => {
        const { completion, ask } = await openCompletion(deps, ctx, { body, isStream: false, incoming })
        return createCompletion(completion, ask)
      })
    },
  )

  api.post(
    '/completions/create_stream',
    {
      ...request,
      summary: 'Complete a chat as a stream, and trace it',
      otherAnswers: { 'application/jsonl': completionAnswer },
    },
    async ({ ctx, body }) => {
      await withIncomingBytes(deps.storage, ctx, body, async (incoming) => {
        const { completion, ask } = await openCompletion(deps, ctx, { body, isStream: true, incoming })
        const chunks = streamCompletion(deps.log, completion, ask)
        await pipeChunks(ctx, deps.gateway.responses, { type: 'application/jsonl', chunks })
      })
    },
  )
}

interface Asked {
  body: CompletionRequest
  isStream: boolean
  /** Undefined if the completion is not traced. */
  incoming: IncomingBytes | undefined
}

interface Read extends Asked {
  inputs: ChatInputs
  memory: RequestReservation
}

/** Runs `work`. Until it ends, the bytes of its call count as stored, beginning before they are written. */
async function withIncomingBytes<T>(
  storage: StorageUse,
  ctx: RequestContext,
  { track_llm_call: isTracked }: CompletionRequest,
  work: (incoming: IncomingBytes | undefined) => Promise<T>,
): Promise<T> {
  if (isTracked === false) return work(undefined)
  requireRole(ctx.state.caller, 'member')
  const incoming = await storage.receiveTraces(ctx)
  try {
    return await work(incoming)
  } finally {
    incoming.release()
  }
}

/** Reads a completion. The memory of its parsed inputs is freed before an engine is asked. */
async function openCompletion(
  deps: Pick<CompletionDeps, 'calls' | 'gateway' | 'memory' | 'pool' | 'projects'>,
  ctx: RequestContext,
  asked: Asked,
) {
  const memory = deps.memory.open(ctx)
  const reader = new ChatReader(memory)
  const inputs = readInputs(asked.body.inputs, reader)
  const completion = await buildCompletion(deps, ctx, { ...asked, inputs, memory })
  return { completion, ask: await openChat(deps, completion, { inputs, reader, isStream: asked.isStream }) }
}

async function buildCompletion(
  deps: Pick<CompletionDeps, 'calls' | 'gateway' | 'projects'>,
  ctx: RequestContext,
  { body, incoming, inputs, memory }: Read,
): Promise<Completion> {
  const { caller } = ctx.state
  const project = await deps.projects[incoming ? 'open' : 'find'](caller, body.project_id)
  const tracked = incoming && new TrackedCall(deps, { caller, project }, { body, inputs, incoming })
  const charged = readProject(ctx, caller.entity) ?? findChargedProject(project)
  return { caller, project, tracked, charged, memory, client: watchClient(ctx, deps.gateway.responses) }
}

/** Traces may use project names that usage cannot be charged to. */
function findChargedProject({ name }: Project): string | undefined {
  return isName(name) && !isReservedProject(name) ? name : undefined
}
