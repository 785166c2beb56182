import { badRequest } from '../errors.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { turnOf } from '../../accounts/limits/turn.ts'
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

/** What spans are stored with. */
export interface SpanDeps {
  calls: CallWriter
  projects: Projects
  spans: SpanBuilder
}

/** An export as it came in. */
export interface ExportRequest extends Routing {
  format: OtlpFormat
  bytes: Buffer
  /** Of the header; empty when there is none. */
  wbRunId: string
  /** For what is made of the spans. */
  memory: RequestReservation
  /** Counts the calls that they become. */
  incoming: IncomingBytes
}

/**
 * Stores the spans of a request as calls; says which were not taken. The others are durable when it resolves.
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
  const storing = new Storing(deps, request)
  for (const group of readGroups()) await storing.addGroup(group, routes)
  return storing.end()
}

/** The groups of a request, to be gone through twice. */
async function openGroups(spans: SpanBuilder, request: ExportRequest): Promise<() => Iterable<SpanGroup>> {
  const { format, bytes, caller } = request
  if (format === 'protobuf') return () => readWireSpans(bytes)
  const split = await spans.split(bytes, caller.entity)
  return () => readJsonSpans(split)
}

/** The spans of one request on their way. */
class Storing {
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
    const surroundings = { projectId: project.id, resource, wbUserId: caller.keyId, wbRunId: wbRunId || undefined }
    const built = await this.#deps.spans.build({ span, surroundings }, turnOf(caller))
    if ('call' in built) await this.#batches.add(project, built.call)
    // One that cannot be taken costs the others nothing.
    else reject(this.#rejections, built.rejected)
  }
}
