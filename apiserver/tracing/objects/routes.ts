import { readLabels } from '../../../db/tracing/object-labels.ts'
import type { ProjectDeps } from '../projects.ts'
import { countRead, countStream } from '../read-memory.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeArray } from '../write-list.ts'
import { createObject, type CreateObjectDeps } from './create-object.ts'
import { deleteObject } from './delete-object.ts'
import { routeObjectLabels } from './label-routes.ts'
import { listObjects } from './list-objects.ts'
import { presentVersion } from './present.ts'
import { readObject, readVersion } from './read-object.ts'
import {
  objectCreatedSchema,
  objectCreateSchema,
  objectDeletedSchema,
  objectDeleteSchema,
  objectReadAnswer,
  objectReadSchema,
  objectsQuerySchema,
  objectsSchema,
} from './schema.ts'

export interface ObjectDeps extends CreateObjectDeps, QueryDeps {}

const tag = 'Objects'

/** Publishes, reads and deletes versions of objects and ops. */
export function routeObjects(api: TraceApi, deps: ObjectDeps): void {
  routeCreate(api, deps)
  routeRead(api, deps)
  routeQuery(api, deps)
  routeDelete(api, deps)
  routeObjectLabels(api, deps)
}

function routeCreate(api: TraceApi, deps: Pick<ObjectDeps, 'inspector' | 'pool' | 'projects'>): void {
  api.post(
    '/obj/create',
    {
      tag,
      summary: 'Publish a version of an object or an op',
      stores: true,
      description:
        'If a version with the same value exists, it becomes the latest version and keeps its index. A deleted ' +
        'version is restored.',
      body: objectCreateSchema,
      texts: ['obj.val'],
      answer: objectCreatedSchema,
    },
    async ({ caller, body: { obj } }) => {
      const project = await deps.projects.open(caller, obj.project_id)
      const digest = await createObject(deps, project, {
        objectId: obj.object_id,
        val: String(obj.val),
        builtinObjectClass: obj.builtin_object_class,
        expectedDigest: obj.expected_digest,
        wbUserId: caller.keyId,
      })
      return { digest, object_id: obj.object_id }
    },
  )
}

function routeRead(api: TraceApi, deps: Pick<QueryDeps, 'memory' | 'pool' | 'projects'>): void {
  api.post(
    '/obj/read',
    {
      tag,
      summary: 'Get a version of an object',
      role: 'read',
      body: objectReadSchema,
      answer: objectReadAnswer,
      countsOwnReads: true,
    },
    async ({ ctx, caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const locator = { objectId: body.object_id, digest: body.digest }
      const version = body.metadata_only
        ? { ...(await readVersion(deps.pool, project, locator)), val: '{}' }
        : await readObject({ pool: deps.pool, reading: countRead(deps.memory.open(ctx)) }, project, locator)
      const [labels] = body.include_tags_and_aliases ? await readLabels(deps.pool, project.number, [version]) : []
      return `{"obj":${presentVersion(project, version, { val: version.val, labels })}}`
    },
  )
}

function routeQuery(api: TraceApi, deps: QueryDeps): void {
  api.post(
    '/objs/query',
    {
      tag,
      summary: 'List versions of objects',
      description:
        'Deleted versions are not listed. Can be sorted by `object_id` and `created_at`; the default order is ' +
        'the oldest first.',
      role: 'read',
      body: objectsQuerySchema,
      answer: objectsSchema,
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const versions = listObjects({ pool: deps.pool, reading: countStream(deps.memory.open(ctx)) }, project, body)
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"objs":', versions, '}') })
    },
  )
}

function routeDelete(api: TraceApi, deps: ProjectDeps): void {
  api.post(
    '/obj/delete',
    {
      tag,
      summary: 'Delete versions of an object',
      description:
        'Indexes of deleted versions are not reused. Values count as stored bytes until they are removed a week ' +
        'later. If one of the named versions does not exist, none is deleted.',
      body: objectDeleteSchema,
      answer: objectDeletedSchema,
    },
    async ({ caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const named = { objectId: body.object_id, digests: body.digests ?? null }
      return { num_deleted: await deleteObject(deps.pool, project, named) }
    },
  )
}
