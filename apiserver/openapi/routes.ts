import type { Router } from '@koa/router'
import type { Api } from '../http/api.ts'
import { describeApi } from './document.ts'

/** GET /openapi.json: the interface, made from the schemas that check it; for everybody. */
export function routeOpenApi(router: Router, api: Api): void {
  const document = JSON.stringify(describeApi(api.operations))
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'application/json'
    ctx.body = document
  })
}
