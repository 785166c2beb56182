import { queryOptions } from '@tanstack/react-query'
import { callApi, locate } from './client.ts'
import { wholeListQuery } from './queries.ts'

const uploads = 'GET /v1/preview/artifacts'
const versions = 'GET /v1/preview/artifacts/{entity}/{project}/{name}/versions'
const objects = 'POST /traces/objs/query'
const maxVersions = 200

/** The uploaded data sets of a project. */
export const uploadsQuery = (project: string) => wholeListQuery(uploads, { query: { project, order: 'desc' } })

// More than a person looks through.
const maxObjects = 1_000

/** The request for the data sets of weave: for the newest versions of all, or for all versions of one. */
function objectsBody(projectId: string, name?: string) {
  const own = name === undefined ? { latest_only: true } : { object_ids: [name] }
  const filter = { base_object_classes: ['Dataset'], ...own }
  const limit = name === undefined ? maxObjects : maxVersions
  const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
  return { project_id: projectId, filter, sort_by, limit, metadata_only: true, include_storage_size: true }
}

/** Versions of the data sets of weave, the newest first. */
export function objectsQuery(projectId: string, name?: string) {
  const body = objectsBody(projectId, name)
  return queryOptions({
    queryKey: ['objects', body],
    queryFn: async ({ signal }) => (await callApi(objects, { body, signal })).objs,
  })
}

/** All versions of an upload, the newest first. */
export function versionsQuery(path: { entity: string; project: string; name: string }) {
  return wholeListQuery(versions, { path, query: { order: 'desc' } }, maxVersions)
}

/** The address of a file of a version. */
export function fileAddress(version: readonly string[], path: string): string {
  return `/v1/preview/artifacts/${[...version, 'files', ...path.split('/')].map(encodeURIComponent).join('/')}`
}

/** The requests that the lists of data sets show. */
export function listDataSetRequests(projectId: string, project: string) {
  return [locate(uploads, { query: { project } }), locate(objects, { body: objectsBody(projectId) })]
}
