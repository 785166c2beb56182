import type { Router } from '@koa/router'
import { Type } from 'typebox'
import { patternOf, scheme } from '../../artifacts/layout.ts'
import { recordDownload } from '../../db/base-models/downloads.ts'
import { recordUntrainedAdapter } from '../../db/base-models/untrained-adapter.ts'
import { recordUntrainedLayers } from '../../db/base-models/untrained-layers.ts'
import type { Pool } from '../../db/pool.ts'
import { openPodRoutes, type AuthenticatePod, type TrainerApi, type TrainerState } from './trainer-api.ts'

/** What the route of downloads needs. `authenticatePod` throws an HttpError for all but engine and trainer pods. */
export interface DownloadRouteDeps {
  pool: Pool
  authenticatePod: AuthenticatePod
}

const numBytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const downloadBody = Type.Object({ done_bytes: numBytes, total_bytes: numBytes })

const layersBody = Type.Object({
  base_model: Type.String({ minLength: 1, maxLength: 300 }),
  layers: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 }),
  share: Type.Number({ minimum: 0, maximum: 1 }),
})

const adapterBody = Type.Object({
  base_model: Type.String({ minLength: 1, maxLength: 300 }),
  uri: Type.String({ pattern: `^${scheme}${patternOf('checkpoint')}$` }),
  files: Type.Array(
    Type.Object({
      path: Type.String({ pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$' }),
      size: numBytes,
      md5: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    }),
    { minItems: 1, maxItems: 10 },
  ),
})

/** Pods that start report here how far the download of their base model is. There is one row for each pod. */
export function createDownloadRoutes({ pool, authenticatePod }: DownloadRouteDeps): Router<TrainerState> {
  const path = '/v1/download-progress'
  const { router, api } = openPodRoutes(authenticatePod, path)
  api.post(
    path,
    {
      tag: 'Pods',
      summary: 'Record how much of the base model is downloaded',
      body: downloadBody,
      answer: Type.Object({}),
    },
    async ({ caller, body }) => {
      await recordDownload(pool, caller.uid, { doneBytes: body.done_bytes, totalBytes: body.total_bytes })
      return {}
    },
  )
  return router
}

/** Trainers report here which layers get no adapter. */
export function routeUntrainedLayers(api: TrainerApi, pool: Pool): void {
  api.post(
    '/v1/untrained-layers',
    {
      tag: 'Trainers',
      summary: 'Record the layers of a base model that get no adapter',
      body: layersBody,
      answer: Type.Object({}),
    },
    async ({ body: { base_model: baseModel, layers, share } }) => {
      await recordUntrainedLayers(pool, baseModel, { layers, share })
      return {}
    },
  )
}

/** Trainers report here where the adapter is that training starts from. */
export function routeUntrainedAdapter(api: TrainerApi, pool: Pool): void {
  api.post(
    '/v1/untrained-adapter',
    {
      tag: 'Trainers',
      summary: 'Record the adapter that training starts from',
      body: adapterBody,
      answer: Type.Object({}),
    },
    async ({ body: { base_model: baseModel, uri, files } }) => {
      const keyed = files.map((file) => ({ ...file, key: `${uri.slice(scheme.length)}/${file.path}` }))
      await recordUntrainedAdapter(pool, baseModel, { uri, files: keyed })
      return {}
    },
  )
}
