import { badRequest } from '../errors.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import type { SpanBuilder } from './span-builder.ts'
import type { CallWriter } from '../calls/writer.ts'
import type { Project, Projects } from '../projects.ts'
import { reject, type Rejections } from './answer.ts'
import type { OtlpFormat } from './body.ts'
import { OtlpError } from './otlp-error.ts'
import { readJsonSpans } from './json-spans.ts'
import { writeResource } from './otel-dump.ts'
import { ProjectRoutes, type Routing } from './routing.ts'
import { SpanBatches } from './span-batches.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import type { Source } from './read-span.ts'
import { readWireSpans, type SpanGroup } from './wire-spans.ts'

export interface SpanDeps {
  calls: CallWriter
  projects: Projects
  spans: SpanBuilder
}

/** A received export. */
export interface ExportRequest extends Routing {
  format: OtlpFormat
  bytes: Buffer
  /** From the header. Empty without a header. */
  wbRunId: string
  /** Reserves the memory of the calls. */
  memory: RequestReservation
  /** Counts the bytes of the calls. */
  incoming: IncomingBytes
}

/**
 * Stores the spans of a request as calls. Returns the rejected spans. The other spans are durable when it resolves.
 *
 * @throws {HttpError} 400, 403 or 413, before anything is stored
 */
export async function storeSpans(deps: SpanDeps, request: ExportRequest): Promise<Rejections> {
  try {
    return await storeGroups(deps, request)
  } catch (error) {
    throw error instanceof OtlpError ? badRequest(`Invalid request: ${error.message}`) : error
  }
}

async function storeGroups(deps: SpanDeps, request: ExportRequest): Promise<Rejections> {
  const readGroups = await openGroups(deps.spans, request)
  const routes = new ProjectRoutes(request, deps.projects)
  await routes.open(readGroups())
  const writer = new ExportWriter(deps, request)
  for (const group of readGroups()) await writer.addGroup(group, routes)
  return writer.end()
}

/** Returns a function that reads the span groups. It is called twice. */
async function openGroups(spans: SpanBuilder, request: ExportRequest): Promise<() => Iterable<SpanGroup>> {
  const { format, bytes } = request
  if (format === 'protobuf') return () => readWireSpans(bytes)
  const split = await spans.split(bytes)
  return () => readJsonSpans(split)
}

/** Stores the spans of one request. */
class ExportWriter {
  readonly #deps: Pick<SpanDeps, 'calls' | 'spans'>
  readonly #request: ExportRequest
  readonly #batches: SpanBatches
  readonly #yielder = new EventLoopYielder()
  readonly #rejections: Rejections = { count: 0, reasons: [] }

  constructor(deps: Pick<SpanDeps, 'calls' | 'spans'>, request: ExportRequest) {
    this.#deps = deps
    this.#request = request
    this.#batches = new SpanBatches(deps.calls, request)
  }

  async addGroup({ resource, spans }: SpanGroup, routes: ProjectRoutes): Promise<void> {
    const text = writeResource(resource)
    for (const span of spans) {
      await this.#add(span, routes.find(resource), text)
      if (this.#yielder.isDue()) await this.#yielder.yield()
    }
  }

  async end(): Promise<Rejections> {
    await this.#batches.flush()
    return this.#rejections
  }

  async #add(span: Source, project: Project, resource: string): Promise<void> {
    const { caller, wbRunId } = this.#request
    const context = { projectId: project.id, resource, wbUserId: caller.keyId, wbRunId: wbRunId || undefined }
    const built = await this.#deps.spans.build({ span, context })
    if ('call' in built) await this.#batches.add(project, built.call)
    // A rejected span does not affect the others.
    else reject(this.#rejections, built.rejected)
  }
}
