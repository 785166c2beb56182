import { badRequest, tooLarge } from '../errors.ts'
import type { Caller } from '../../accounts/context.ts'
import type { Project, Projects } from '../projects.ts'
import { writeResource } from './otel-dump.ts'
import type { Resource } from './span.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { maxSpans, type SpanGroup } from './wire-spans.ts'

// A collector may send spans of several projects. Each project costs a query.
const maxProjects = 100
// A resource is copied into each of its spans. The bound keeps the copies in proportion to the request.
const maxResourceBytes = 256 * 1024 * 1024

/** What determines the project of a request. */
export interface Routing {
  caller: Caller
  /** From the header. Empty without a header. */
  projectId: string
}

/** Finds the project of each group. All projects are found before anything is stored. */
export class ProjectRoutes {
  readonly #routing: Routing
  readonly #projects: Projects
  readonly #opened = new Map<string, Project>()

  constructor(routing: Routing, projects: Projects) {
    this.#routing = routing
    this.#projects = projects
  }

  /**
   * @throws {HttpError} 400 for a group without a project, 403 for a project of another entity, 413 for too many spans
   */
  async open(groups: Iterable<SpanGroup>): Promise<void> {
    const yielder = new EventLoopYielder()
    let [spanCount, resourceBytes] = [0, 0]
    if (this.#routing.projectId !== '') await this.#openProject(this.#routing.projectId)
    for (const { resource, spans } of groups) {
      if (yielder.isDue()) await yielder.yield()
      const count = await countSpans(spans, yielder)
      if (count === 0) continue
      await this.#openProject(nameProject(this.#routing, resource))
      resourceBytes += count * writeResource(resource).length
      spanCount += count
      if (resourceBytes > maxResourceBytes || spanCount > maxSpans) throw tooLarge()
    }
  }

  /** Returns the project of a group that has spans. */
  find(resource: Resource): Project {
    return this.#opened.get(nameProject(this.#routing, resource))!
  }

  async #openProject(projectId: string): Promise<void> {
    if (this.#opened.has(projectId)) return
    if (this.#opened.size === maxProjects) throw badRequest(`Spans of more than ${maxProjects} projects in one request`)
    this.#opened.set(projectId, await this.#projects.open(this.#routing.caller, projectId))
  }
}

async function countSpans(spans: SpanGroup['spans'], yielder: EventLoopYielder): Promise<number> {
  let count = 0
  const rest = spans[Symbol.iterator]()
  for (; !rest.next().done; count++) if (yielder.isDue()) await yielder.yield()
  return count
}

function nameProject({ projectId }: Routing, resource: Resource): string {
  if (projectId !== '') return projectId
  const find = (key: string) => resource.attributes.findLast((attribute) => attribute.key === key)?.value
  const [entity, project] = [find('wandb.entity'), find('wandb.project')]
  if (typeof entity === 'string' && typeof project === 'string') return `${entity}/${project}`
  throw badRequest(
    'The spans name no project: send the header project_id (entity/project), or the resource attributes wandb.entity and wandb.project',
  )
}
