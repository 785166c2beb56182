import { sumFiles } from '../../../db/tracing/files.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { ProjectDeps } from '../projects.ts'
import type { RevocableResponses } from '../../accounts/keys/revocable-responses.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import type { TraceApi } from '../trace-api.ts'
import { discardContent } from './content.ts'
import { readFileForm, type FileFormDeps } from './read-form.ts'
import {
  bytesSchema,
  fileContentSchema,
  fileCreatedSchema,
  fileCreateForm,
  filesQuerySchema,
  filesSizeSchema,
} from './schema.ts'
import { keepFile, openFile, type FileDeps } from './service.ts'

export interface FileRequestDeps extends FileDeps, FileFormDeps, ProjectDeps {
  responses: RevocableResponses
  storage: StorageUse
}

const tag = 'Files'

/** Files of a project, addressed by digest: code of ops, images, and other content that objects and calls refer to. */
export function routeFiles(api: TraceApi, deps: FileRequestDeps): void {
  // Old clients use the second path.
  for (const folder of ['/file', '/files']) {
    routeCreate(api, deps, `${folder}/create`)
    routeContent(api, deps, `${folder}/content`)
  }
  // The SDK for Python uses the second path. weave's published interface has the first.
  for (const path of ['/files/query_stats', '/files/stats']) routeSize(api, deps, path)
}

function routeSize(api: TraceApi, deps: ProjectDeps, path: string): void {
  api.post(
    path,
    {
      tag,
      summary: "Get the size of a project's files",
      role: 'read',
      body: filesQuerySchema,
      answer: filesSizeSchema,
    },
    async ({ caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      return { total_size_bytes: await sumFiles(deps.pool, project.number) }
    },
  )
}

function routeCreate(
  api: TraceApi,
  deps: Pick<FileRequestDeps, 'artifacts' | 'pool' | 'projects' | 'storage' | 'uploadLimitBytes'>,
  path: string,
): void {
  api.post(
    path,
    {
      tag,
      summary: 'Store a file',
      description: 'Files with the same bytes are stored once.',
      cost: { permit: 'uploads' },
      streamedBody: { 'multipart/form-data': fileCreateForm },
      answer: fileCreatedSchema,
    },
    async ({ ctx }) => {
      const incoming = await deps.storage.receive(ctx)
      try {
        return { digest: await receiveFile(deps, ctx, incoming) }
      } finally {
        incoming.release()
      }
    },
  )
}

async function receiveFile(
  deps: Pick<FileRequestDeps, 'artifacts' | 'pool' | 'projects' | 'storage' | 'uploadLimitBytes'>,
  ctx: RequestContext,
  incoming: IncomingBytes,
): Promise<string> {
  const { caller } = ctx.state
  const form = await readFileForm(deps, ctx, incoming)
  try {
    const project = await deps.projects.open(caller, form.projectId)
    const digest = await keepFile(deps, project, form)
    deps.storage.record(caller.entity, form.content.size)
    return digest
  } finally {
    await discardContent(form.content)
  }
}

function routeContent(
  api: TraceApi,
  deps: Pick<FileRequestDeps, 'artifacts' | 'pool' | 'projects' | 'responses'>,
  path: string,
): void {
  api.post(
    path,
    {
      tag,
      summary: 'Get a file',
      role: 'read',
      body: fileContentSchema,
      otherAnswers: { 'application/octet-stream': bytesSchema },
    },
    async ({ ctx, caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const { size, body: content } = await openFile(deps, project, body.digest)
      if (!Buffer.isBuffer(content)) {
        const ended = deps.responses.track(caller, ctx.res)
        ended.addEventListener('abort', () => content.destroy())
      }
      ctx.type = 'application/octet-stream'
      ctx.body = content
      ctx.length = size
    },
  )
}
