import type Koa from 'koa'
import { readBearer } from '../accounts/keys/require-key.ts'

/**
 * Reads the API key of a request of the tracing group. It is the password of `Authorization: Basic` (SDKs), a bearer
 * token, or the header `wandb-api-key` (OpenTelemetry exporters).
 */
export function readTraceKey(ctx: Pick<Koa.Context, 'get'>): string | undefined {
  const basic = /^basic +([\w+/=-]+) *$/i.exec(ctx.get('Authorization'))?.[1]
  if (basic === undefined) return readBearer(ctx) ?? (ctx.get('wandb-api-key').trim() || undefined)
  const credentials = Buffer.from(basic, 'base64').toString()
  return credentials.slice(credentials.indexOf(':') + 1) || undefined
}
