import type { Router } from '@koa/router'
import type { Api } from '../http/api.ts'
import { describeApi } from './document.ts'
import { readPage } from './page.ts'

/** The interface, made from the schemas that check it: /openapi.json, and a page to read it at /docs. For everybody. */
export function routeOpenApi(router: Router, api: Api): void {
  const document = JSON.stringify(describeApi(api.operations))
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'application/json'
    ctx.body = document
  })

  const page = readPage()
  router.get('/docs', (ctx) => {
    ctx.type = 'text/html; charset=utf-8'
    // The page runs its own scripts only, and asks this server only.
    ctx.set('Content-Security-Policy', "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:")
    ctx.body = page.html
  })

  router.get('/docs/:file', (ctx) => {
    const file = page.files.get(ctx.params['file']!)
    if (!file) return
    ctx.type = file.type
    ctx.set('Cache-Control', 'public, max-age=86400')
    ctx.body = file.bytes
  })
}
