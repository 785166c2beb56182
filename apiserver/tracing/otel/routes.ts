import { Type } from 'typebox'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { Caller, RequestContext } from '../../accounts/context.ts'
import { maskKeyBytes } from '../../accounts/keys/mask-keys.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import { optional } from '../schema.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeAnswer } from './answer.ts'
import { readFormat, readOtlpBody } from './body.ts'
import { storeSpans, type SpanDeps } from './service.ts'

export interface ExportDeps extends SpanDeps {
  memory: RequestMemory
  storage: StorageUse
}

const answerSchema = Type.Object({
  partial_success: optional(Type.Object({ rejected_spans: Type.Integer(), error_message: Type.String() })),
})

const spansSchema = Type.Unsafe({ type: 'string', format: 'binary' })

const description =
  'An OTLP ExportTraceServiceRequest, maybe compressed with gzip or deflate. Each span becomes a call of the project that the header project_id (entity/project) or the resource attributes wandb.entity and wandb.project name.'

const paths = [
  ['/otel/v1/traces', 'Export spans of OpenTelemetry'],
  ['/otel/v1/trace', 'Export spans of OpenTelemetry, by the path of the interface'],
  ['/agents/otel/v1/traces', 'Export spans of agents'],
] as const

export function routeOtel(api: TraceApi, deps: ExportDeps): void {
  for (const [path, summary] of paths) {
    const streamedBody = { 'application/x-protobuf': spansSchema, 'application/json': Type.Object({}) }
    const otherAnswers = { 'application/x-protobuf': spansSchema }
    const described = { tag: 'OpenTelemetry', summary, description }
    const operation = { ...described, streamedBody, otherAnswers, answer: answerSchema }
    api.post(path, operation, async ({ ctx, caller }) => {
      const incoming = await deps.storage.receiveTraces(ctx)
      try {
        await storeExport(deps, ctx, { caller, incoming })
      } finally {
        // After an error, some calls may already be stored.
        incoming.keep()
      }
      return undefined
    })
  }
}

async function storeExport(
  deps: Pick<ExportDeps, 'calls' | 'memory' | 'projects' | 'spans'>,
  ctx: RequestContext,
  { caller, incoming }: { caller: Caller; incoming: IncomingBytes },
): Promise<void> {
  const format = readFormat(ctx)
  const memory = deps.memory.open(ctx)
  const bytes = await readOtlpBody(memory, ctx)
  maskKeyBytes(bytes)
  const [projectId, wbRunId] = [ctx.get('project_id').trim(), ctx.get('wb_run_id').trim()]
  const rejections = await storeSpans(deps, { caller, format, bytes, projectId, wbRunId, memory, incoming })
  ctx.type = format === 'json' ? 'application/json' : 'application/x-protobuf'
  ctx.body = writeAnswer(format, rejections)
}
