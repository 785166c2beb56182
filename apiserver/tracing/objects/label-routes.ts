import {
  addTags,
  listAliases,
  listTags,
  removeAliases,
  removeTags,
  setAliases,
} from '../../../db/tracing/object-labels.ts'
import type { ProjectDeps } from '../projects.ts'
import { emptySchema } from '../schema.ts'
import { checkNames } from '../query/params.ts'
import type { TraceApi } from '../trace-api.ts'
import { checkAliases, checkObjectId, checkTags } from './object-names.ts'
import { readVersion } from './read-object.ts'
import {
  aliasesRemoveSchema,
  aliasesSetSchema,
  aliasListSchema,
  labelsQuerySchema,
  tagListSchema,
  tagsSchema,
} from './schema.ts'

const tag = 'Objects'

/** Tags of versions, and aliases. An alias is a name for one version of an object. */
export function routeObjectLabels(api: TraceApi, deps: ProjectDeps): void {
  routeTags(api, deps)
  routeAliases(api, deps)
}

function routeTags(api: TraceApi, deps: ProjectDeps): void {
  const path = '/objs/{object_id}/versions/{digest}/tags'
  api.put(
    path,
    { tag, summary: 'Add tags to a version', body: tagsSchema, answer: emptySchema },
    async ({ caller, params, body }) => {
      checkTags(body.tags)
      const project = await deps.projects.find(caller, body.project_id)
      const version = await readVersion(deps.pool, project, { objectId: params.object_id, digest: params.digest })
      await addTags(deps.pool, project.number, { ...version, tags: body.tags })
      return {}
    },
  )
  api.post(
    `${path}/remove`,
    { tag, summary: 'Remove tags from a version', body: tagsSchema, answer: emptySchema },
    async ({ caller, params, body }) => {
      checkNames(body.tags)
      const project = await deps.projects.find(caller, body.project_id)
      const version = await readVersion(deps.pool, project, { objectId: params.object_id, digest: params.digest })
      await removeTags(deps.pool, project.number, { ...version, tags: body.tags })
      return {}
    },
  )
  api.get(
    '/tags',
    { tag, summary: 'List the tags of a project', query: labelsQuerySchema, answer: tagListSchema },
    async ({ caller, query }) => {
      const project = await deps.projects.find(caller, query.project_id)
      return { tags: await listTags(deps.pool, project.number) }
    },
  )
}

function routeAliases(api: TraceApi, deps: ProjectDeps): void {
  const path = '/objs/{object_id}/aliases'
  api.put(
    path,
    {
      tag,
      summary: 'Set aliases of a version',
      description:
        'An alias of another version of the object is moved. `latest`, `v0`, `v1` and so on cannot be aliases.',
      body: aliasesSetSchema,
      answer: emptySchema,
    },
    async ({ caller, params, body }) => {
      checkAliases(body.aliases)
      const project = await deps.projects.find(caller, body.project_id)
      const version = await readVersion(deps.pool, project, { objectId: params.object_id, digest: body.digest })
      await setAliases(deps.pool, project.number, { ...version, aliases: body.aliases })
      return {}
    },
  )
  api.post(
    `${path}/remove`,
    { tag, summary: 'Remove aliases from an object', body: aliasesRemoveSchema, answer: emptySchema },
    async ({ caller, params, body }) => {
      const objectId = params.object_id
      checkObjectId(objectId)
      checkNames(body.aliases)
      const project = await deps.projects.find(caller, body.project_id)
      await removeAliases(deps.pool, project.number, { objectId, aliases: body.aliases })
      return {}
    },
  )
  api.get(
    '/aliases',
    { tag, summary: 'List the aliases of a project', query: labelsQuerySchema, answer: aliasListSchema },
    async ({ caller, query }) => {
      const project = await deps.projects.find(caller, query.project_id)
      return { aliases: await listAliases(deps.pool, project.number) }
    },
  )
}
