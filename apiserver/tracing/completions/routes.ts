import { isReservedProject } from '../../../crds/names.ts'
import { holdPlace, watchClient } from '../../gateway/chat-client.ts'
import { requireRole } from '../../middleware/auth.ts'
import type { RequestContext } from '../../middleware/context.ts'
import { isName } from '../../training/names.ts'
import { readProject } from '../../usage/project-header.ts'
import type { TraceDeps } from '../deps.ts'
import type { Project } from '../projects.ts'
import { pipeChunks } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import type { Completion } from './chat.ts'
import { readInputs } from './chat-inputs.ts'
import { createCompletion } from './create.ts'
import { completionAnswer, completionSchema, completionTexts, type CompletionRequest } from './schema.ts'
import { streamCompletion } from './stream.ts'
import { TrackedCall } from './tracked-call.ts'

const tag = 'Completions'
const description =
  'Every model is one that is served here; `coreweave/` before its name is passed over. What goes wrong at the model is ' +
  'told in `error`, with status 200. Messages of `inputs.prompt`, a reference of a prompt, go before the others, and ' +
  '`{name}` in texts is replaced by `inputs.template_vars`. Unless `track_llm_call` is false, a call of the project ' +
  'tells of it, for which the role member is needed. Usage is charged to the project.'

/** Chats with the models of the gateway that leave a trace. */
export function routeCompletions(api: TraceApi, deps: TraceDeps): void {
  const request = { tag, description, role: 'read', body: completionSchema, texts: completionTexts } as const

  api.post(
    '/completions/create',
    { ...request, summary: 'Complete a chat, and trace it', answer: completionAnswer },
    async ({ ctx, body }) => {
      holdPlace(ctx, deps.main)
      return createCompletion(deps, await readCompletion(deps, ctx, body))
    },
  )

  api.post(
    '/completions/create_stream',
    {
      ...request,
      summary: 'The same, chunk by chunk in lines',
      otherAnswers: { 'application/jsonl': completionAnswer },
    },
    async ({ ctx, body }) => {
      holdPlace(ctx, deps.main)
      const chunks = streamCompletion(deps, await readCompletion(deps, ctx, body))
      await pipeChunks(ctx, deps, { type: 'application/jsonl', chunks })
    },
  )
}

async function readCompletion(deps: TraceDeps, ctx: RequestContext, body: CompletionRequest): Promise<Completion> {
  const { caller } = ctx.state
  const isTracked = body.track_llm_call !== false
  if (isTracked) requireRole(caller, 'member')
  const inputs = readInputs(body.inputs)
  const project = await deps.projects[isTracked ? 'open' : 'find'](caller, body.project_id)
  const tracked = isTracked ? new TrackedCall(deps, { caller, project }, { body, inputs }) : undefined
  const charged = readProject(ctx) ?? nameCharged(project)
  return { caller, project, inputs, tracked, charged, signal: watchClient(ctx, deps.main) }
}

/** Traces may be under names that usage cannot be charged to. */
function nameCharged({ name }: Project): string | undefined {
  return isName(name) && !isReservedProject(name) ? name : undefined
}
