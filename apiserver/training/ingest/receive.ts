import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Pool } from '../../../db/pool.ts'
import type { BodyChecker } from './body-checker.ts'
import type { Idempotency } from '../../../lib/http/idempotency.ts'
import type { RestRequest } from '../../accounts/rest-api.ts'
import { isModelReference } from '../../accounts/names.ts'
import { nameModel } from '../../histories/read-histories.ts'
import { getModel } from '../models/service.ts'
import type { CheckedBody } from './check-body.ts'
import { watchForModelId } from './first-member.ts'
import type { BodyKind } from './shapes.ts'
import { digestBody, withSpooledBody, type SpooledBody, type SpoolDeps } from './spool.ts'

/** What receiving bodies of trajectories needs. */
export interface ReceiveDeps extends SpoolDeps {
  bodies: BodyChecker
  idempotency: Idempotency
  pool: Pool
}

/** A valid body, in a file that the store can adopt. */
export type ReceivedBody<Kind extends BodyKind = BodyKind> = SpooledBody & CheckedBody<Kind>

/** A model as a request refers to it, and its whole name. */
interface NamedModel {
  reference: string
  name: string
}

/** @throws {HttpError} 404 for a model that is not the caller's */
type FindModel = (reference: string) => Promise<NamedModel>

type TakeRequest = Pick<RestRequest<{ model_id?: string }>, 'ctx' | 'caller' | 'params' | 'answerOnce'>

/**
 * Receives a request's body of trajectories of any size. Writes it to a file, checks it in a thread, and answers with
 * the result of `work`, once per Idempotency-Key. The model in the path, or the one that the body names first, is
 * looked up before the rest of the body is read.
 *
 * @throws {HttpError} 403 if the entity stores as much as it may, 404 for a model that is not the caller's, 413, 415,
 * 422 with the issues, 503 if the store cannot be written
 */
export async function receiveTrajectories<Kind extends BodyKind, T>(
  deps: ReceiveDeps,
  request: TakeRequest,
  kind: Kind,
  work: (body: ReceivedBody<Kind>) => Promise<T>,
): Promise<T> {
  const { ctx, caller, params, answerOnce } = request
  // A repeated request gets the stored answer, whatever was stored or deleted meanwhile.
  if (await deps.idempotency.isAnswered(ctx, caller.entity))
    return answerOnce(rejectExpired, await digestBody(deps.bodyLimitBytes, ctx))
  const { model_id: inPath } = params
  const find: FindModel = async (reference) => {
    return { reference, name: nameModel(await getModel(deps.pool, caller.entity, reference)) }
  }
  let known = inPath === undefined ? undefined : await find(inPath)
  const look = lookForModel(kind, async (reference) => {
    known = await find(reference)
  })
  return withSpooledBody(deps, ctx, { look }, (spooled) =>
    answerOnce(async () => {
      const { file, size } = spooled
      const checked = await checkFor({ known, inPath, find }, (model) => deps.bodies.check({ file, size, kind, model }))
      // Other bodies of the entity have arrived meanwhile.
      await deps.storage.requireRoom(caller.entity, ctx.state.limits.storedBytes, size)
      const answer = await work({ ...spooled, ...checked })
      deps.storage.record(caller.entity, size)
      return answer
    }, spooled.digest),
  )
}

/**
 * Checks a body for the model that the request is about. A body with captured exchanges is read again if its model was
 * not known before.
 */
async function checkFor<Kind extends BodyKind>(
  { known, inPath, find }: { known: NamedModel | undefined; inPath: string | undefined; find: FindModel },
  check: (model: string) => Promise<CheckedBody<Kind>>,
): Promise<CheckedBody<Kind>> {
  const checked = await check(known?.name ?? '')
  const reference = inPath ?? checked.members.model_id
  if (!checked.needsModel || reference == null || reference === known?.reference) return checked
  return check((await find(reference)).name)
}

/** Answers are stored for a day; this one expired while its body was read. */
function rejectExpired(): Promise<never> {
  return Promise.reject(
    new HttpError(
      errors.answer_expired,
      'The answer to this Idempotency-Key has expired. Send this request again to run it anew.',
      {
        retryAfterSeconds: 1,
      },
    ),
  )
}

/**
 * Looks a body's model up at once, because the body may be large. A text that refers to no model is an issue of the body.
 */
function lookForModel(kind: BodyKind, find: (reference: string) => Promise<void>): (chunk: Buffer) => Promise<void> {
  if (kind !== 'job') return async () => {}
  return watchForModelId(async (reference) => {
    if (isModelReference(reference)) await find(reference)
  })
}
