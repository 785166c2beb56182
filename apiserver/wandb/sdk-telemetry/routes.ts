import type { Router } from '@koa/router'
import { linger } from '../../../lib/http/body.ts'

/**
 * Accepts what wandb 0.31 and later report about the SDK itself (OpenTelemetry, without a key), and throws it away
 * unread. After another answer, each script of a user would print that its export has failed.
 */
export function routeSdkTelemetry(router: Router): void {
  router.post(['/sdk/otel/v1/metrics', '/sdk/otel/v1/logs'], (ctx) => {
    linger(ctx)
    ctx.type = 'application/x-protobuf'
    // An empty message of the protocol: everything was accepted.
    ctx.body = Buffer.alloc(0)
  })
}
