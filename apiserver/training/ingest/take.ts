import type { Deps } from '../../deps.ts'
import type { ApiRequest } from '../../http/api.ts'
import { answerOnce } from '../../http/idempotency.ts'
import type { CheckedBody } from './check-body.ts'
import type { BodyKind } from './shapes.ts'
import { withSpooledBody, type SpooledBody } from './spool.ts'

/** A body in shape, in a file that the store may adopt. */
export type TakenBody = SpooledBody & CheckedBody

/**
 * Takes in a request's body of trajectories, however large: to a file, then checked beside the event loop; and answers
 * with what `work` makes of it, once per Idempotency-Key.
 *
 * @throws {Refusal} 413, 415, 422 with the faults, 503 when the store takes no writes
 */
export function takeTrajectories<T>(
  deps: Deps,
  request: Pick<ApiRequest<unknown, unknown>, 'ctx' | 'caller' | 'ids'>,
  kind: BodyKind,
  work: (body: TakenBody) => Promise<T>,
): Promise<T> {
  return withSpooledBody(deps, request.ctx, (spooled) =>
    answerOnce(deps, request, spooled.digest, async () =>
      work({ ...spooled, ...(await deps.bodies.check(spooled.file, spooled.size, kind)) }),
    ),
  )
}
