import { payloadKey } from '../../../lib/artifact-store/payloads.ts'
import type { Deps } from '../../deps.ts'
import type { ApiRequest } from '../../http/api.ts'
import { answerOnce, readIdempotencyKey } from '../../http/idempotency.ts'
import { requireStorage } from '../../limits/service.ts'
import type { CheckedBody } from './check-body.ts'
import type { BodyKind } from './shapes.ts'
import { withSpooledBody, type SpooledBody } from './spool.ts'

/** A body in shape, in a file that the store may adopt. */
export type TakenBody = SpooledBody & CheckedBody

/**
 * Takes in a request's body of trajectories, however large: to a file, then checked beside the event loop; and answers
 * with what `work` makes of it, once per Idempotency-Key.
 *
 * @throws {Refusal} 403 when the entity stores as much as it may, 413, 415, 422 with the faults, 503 when the store takes no writes
 */
export async function takeTrajectories<T>(
  deps: Deps,
  request: Pick<ApiRequest<unknown, unknown>, 'ctx' | 'caller' | 'ids'>,
  kind: BodyKind,
  work: (body: TakenBody) => Promise<T>,
): Promise<T> {
  const { ctx, caller } = request
  // What a key was answered before is answered again, whatever is stored meanwhile.
  const isEarly = ctx.request.length !== undefined && readIdempotencyKey(ctx) === undefined
  if (isEarly) await requireStorage(deps, caller.entity, ctx.request.length ?? 0)
  return withSpooledBody(deps, ctx, (spooled) =>
    answerOnce(deps, request, spooled.digest, async () => {
      if (!isEarly && !(await isStored(deps, caller.entity, spooled))) {
        await requireStorage(deps, caller.entity, spooled.size)
      }
      return work({ ...spooled, ...(await deps.bodies.check(spooled.file, spooled.size, kind)) })
    }),
  )
}

/** The same bytes lie in the store once. */
async function isStored({ artifacts }: Deps, entity: string, { digest }: SpooledBody): Promise<boolean> {
  return (await artifacts.stat(payloadKey(entity, digest.toString('hex')))) !== undefined
}
