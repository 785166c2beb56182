import type { Router } from '@koa/router'
import type { RestApi } from '../accounts/rest-api.ts'
import { rebaseLinks } from '../../lib/http/rebase-links.ts'
import type { PlacedOperation } from '../../lib/http/operation.ts'
import { describeApi, type Chapter } from './document.ts'
import { readPage, type Page } from './page.ts'

const tracing: Chapter = {
  title: 'Trainyard tracing',
  description:
    'Calls, objects, tables, files, feedback, costs and threads, as the weave SDKs and OpenTelemetry send them.',
  server: '/traces',
  sentenceIn: 'reason',
}

// The page only runs its own scripts, only requests this server, and cannot be framed.
const pagePolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

/**
 * Serves the interface's two documents, and a page to read each. The documents are built from the schemas that validate
 * requests. They are public. A server without traces does not have theirs.
 */
export function routeOpenApi(router: Router, api: RestApi, traces: readonly PlacedOperation[] | undefined): void {
  const documents: Record<string, string> = {
    '/openapi.json': JSON.stringify(describeApi(api.operations)),
    ...(traces && { '/traces/openapi.json': JSON.stringify(describeApi([...traces], tracing)) }),
  }
  for (const [path, document] of Object.entries(documents)) {
    router.get(path, (ctx) => {
      ctx.type = 'application/json'
      ctx.body = document
    })
  }

  // Hardly anybody asks for it. All who do share it, however slowly they read.
  let page: Page | undefined
  const openPage = () => (page ??= readPage())
  router.get(traces ? ['/docs', '/traces/docs'] : '/docs', (ctx) => {
    ctx.type = 'text/html; charset=utf-8'
    ctx.set('Content-Security-Policy', pagePolicy)
    ctx.body = rebaseLinks(openPage().html, ctx.path)
  })

  router.get('/docs/:file', (ctx) => {
    const file = openPage().files.get(ctx.params['file']!)
    if (!file) return
    ctx.type = file.type
    ctx.set('Cache-Control', 'public, max-age=86400')
    ctx.body = file.bytes
  })
}
