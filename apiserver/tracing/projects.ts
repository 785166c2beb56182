import { badRequest, forbiddenProject } from './errors.ts'
import { findTraceProject, openTraceProject } from '../../db/tracing/projects.ts'
import type { Pool } from '../../db/pool.ts'
import type { Caller } from '../accounts/context.ts'
import { isTracedName } from '../accounts/names.ts'

export interface ProjectDeps {
  pool: Pool
  projects: Projects
}

/** A project. Its rows are stored under `number`, which is 0 until it has rows. */
export interface Project {
  number: number
  entity: string
  name: string
  /** entity/name */
  id: string
}

// A cached number of an erased project must expire soon: the erasure waits until no apiserver has it.
const keptMs = 5_000
const maxKept = 10_000

/** Finds projects by name. */
export class Projects {
  readonly #pool: Pool
  readonly #known = new Map<string, { project: Project; untilMs: number }>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** For reads. @throws {HttpError} 400 for an invalid project id, 403 for a project of another entity */
  async find(caller: Caller, projectId: string): Promise<Project> {
    return this.#get(caller, projectId, findTraceProject)
  }

  /** For writes: creates the project if it does not exist. @throws {HttpError} as `find` does */
  async open(caller: Caller, projectId: string): Promise<Project> {
    return this.#get(caller, projectId, openTraceProject)
  }

  async #get(caller: Caller, projectId: string, load: typeof findTraceProject): Promise<Project> {
    const { entity, name } = splitProjectId(projectId)
    if (entity !== caller.entity) throw forbiddenProject()
    const known = this.#known.get(projectId)
    if (known && known.untilMs > performance.now()) return known.project
    const number = await load(this.#pool, entity, name)
    const project = { number, entity, name, id: projectId }
    if (number !== 0) this.#keep(project)
    return project
  }

  #keep(project: Project): void {
    if (this.#known.size >= maxKept) this.#known.clear()
    this.#known.set(project.id, { project, untilMs: performance.now() + keptMs })
  }
}

/** @throws {HttpError} 400 unless there is exactly one slash with a name on both sides */
export function splitProjectId(projectId: string): { entity: string; name: string } {
  const [entity = '', name = '', ...rest] = projectId.split('/')
  if (isTracedName(entity) && isTracedName(name) && rest.length === 0) return { entity, name }
  throw badRequest(`Invalid project_id: ${JSON.stringify(projectId.slice(0, 300))} is not of the form entity/project`)
}
