import type { TraceDeps } from '../deps.ts'
import { cut } from '../cut.ts'
import { cleanJson } from '../json/clean.ts'
import type { Project } from '../projects.ts'
import { badRequest } from '../refusals.ts'
import { reject, type Rejections } from './answer.ts'
import type { OtlpFormat } from './body.ts'
import { OtelFault } from './fault.ts'
import { readJsonSpans } from './json-spans.ts'
import { writeResource } from './otel-dump.ts'
import { ProjectRoutes, type Routing } from './routing.ts'
import { SpanBatches } from './span-batches.ts'
import { createCall, type Surroundings } from './span-call.ts'
import type { Span } from './span.ts'
import { Turns } from '../turns.ts'
import { readWireSpans, type SpanGroup, type SpanSource } from './wire-spans.ts'

type Deps = Pick<TraceDeps, 'calls' | 'projects'>

/** An export as it came in. */
export interface ExportRequest extends Routing {
  format: OtlpFormat
  bytes: Buffer
  /** Of the header; empty when there is none. */
  wbRunId: string
}

/**
 * Stores the spans of a request as calls; says which were not taken. The others are durable when it resolves.
 *
 * @throws {TraceRefusal} 400, 403 or 413, before anything is stored
 */
export async function storeSpans(deps: Deps, request: ExportRequest): Promise<Rejections> {
  try {
    return await storeGroups(deps, request)
  } catch (error) {
    throw error instanceof OtelFault ? badRequest(`Invalid request: ${error.message}`) : error
  }
}

async function storeGroups(deps: Deps, request: ExportRequest): Promise<Rejections> {
  const readGroups = openGroups(request)
  const routes = new ProjectRoutes(request, deps.projects)
  await routes.open(readGroups())
  const storing = new Storing(deps, request)
  for (const group of readGroups()) await storing.addGroup(group, routes)
  return storing.end()
}

/** The groups of a request, to be gone through twice. */
function openGroups({ format, bytes }: ExportRequest): () => Iterable<SpanGroup> {
  if (format === 'protobuf') return () => readWireSpans(bytes)
  const groups = readJsonSpans(cleanJson(bytes))
  return () => groups
}

/** The spans of one request on their way. */
class Storing {
  readonly #request: ExportRequest
  readonly #batches: SpanBatches
  readonly #turns = new Turns()
  readonly #rejections: Rejections = { count: 0, reasons: [] }

  constructor(deps: Deps, request: ExportRequest) {
    this.#request = request
    this.#batches = new SpanBatches(deps.calls)
  }

  async addGroup({ resource, spans }: SpanGroup, routes: ProjectRoutes): Promise<void> {
    const text = writeResource(resource)
    for (const span of spans) {
      await this.#add(span, routes.find(resource), text)
      if (this.#turns.isOver()) await this.#turns.next()
    }
  }

  async end(): Promise<Rejections> {
    await this.#batches.flush()
    return this.#rejections
  }

  async #add(source: SpanSource, project: Project, resource: string): Promise<void> {
    const { caller, wbRunId } = this.#request
    const surroundings = { projectId: project.id, resource, wbUserId: caller.keyId, wbRunId: wbRunId || undefined }
    const call = this.#tryCreate(source, surroundings)
    if (call) await this.#batches.add(project, call)
  }

  /** The call of a span; none when it cannot be taken, which costs the others nothing. */
  #tryCreate(source: SpanSource, surroundings: Surroundings) {
    let span: Span | undefined
    try {
      span = source()
      return createCall(span, surroundings)
    } catch (error) {
      if (!(error instanceof OtelFault)) throw error
      reject(this.#rejections, `${describe(span)}: ${error.message}`)
      return undefined
    }
  }
}

function describe(span: Span | undefined): string {
  if (!span) return 'Rejected a span'
  return `Rejected span (name='${cut(span.name)}' trace_id='${span.traceId}' span_id='${span.spanId}')`
}
