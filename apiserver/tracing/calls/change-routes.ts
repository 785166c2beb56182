import { badRequest } from '../errors.ts'
import { Type } from 'typebox'
import { renameCall } from '../../../db/tracing/change-calls.ts'
import type { ProjectDeps } from '../projects.ts'
import { emptySchema, optional, projectIdSchema } from '../schema.ts'
import type { TraceApi } from '../trace-api.ts'
import { deleteWithDescendants } from './delete.ts'
import { truncateName } from './read-parts.ts'
import { displayNameSchema, idSchema } from './schema.ts'
import { weekOf } from '../../../db/tracing/week.ts'

const updateSchema = Type.Object({
  project_id: projectIdSchema,
  call_id: idSchema,
  display_name: optional(displayNameSchema),
})
const deleteSchema = Type.Object({ project_id: projectIdSchema, call_ids: Type.Array(Type.String()) })

export function routeCallChanges(api: TraceApi, deps: ProjectDeps): void {
  api.post(
    '/call/update',
    {
      tag: 'Calls',
      summary: 'Rename a call',
      description: 'An empty name removes the display name.',
      body: updateSchema,
      answer: emptySchema,
    },
    async ({ caller, body: { project_id: projectId, call_id: id, display_name: name } }) => {
      if (name === undefined || name === null) throw badRequest('One of [display_name] is required for call update')
      const project = await deps.projects.open(caller, projectId)
      await renameCall(deps.pool, { week: weekOf(id), project: project.number, id }, truncateName(name) || null)
      return {}
    },
  )

  api.post(
    '/calls/delete',
    {
      tag: 'Calls',
      summary: 'Delete calls with all their descendants',
      description: 'They count as stored bytes until they are removed a week later.',
      body: deleteSchema,
      answer: Type.Object({ num_deleted: Type.Integer() }),
    },
    async ({ caller, body: { project_id: projectId, call_ids: callIds } }) => ({
      num_deleted: await deleteWithDescendants(deps, caller, { projectId, callIds }),
    }),
  )
}
