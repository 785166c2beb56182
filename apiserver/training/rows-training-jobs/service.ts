import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { InputError } from '../../../artifacts/inputs/address.ts'
import { whileHoldingInput } from '../../../artifacts/inputs/hold.ts'
import { resolveInput, type InputDeps } from '../../../artifacts/inputs/resolve.ts'
import type { RowsMethod } from '../../../crds/methods.ts'
import type { Caller } from '../../accounts/context.ts'
import { getModel } from '../models/service.ts'
import { admitJob, type AdmissionDeps } from '../training-jobs/admit.ts'
import { extractRowsFields, type RowsRequest } from '../settings/request.ts'
import { rejectMisplacedSettings } from '../settings/misplaced-settings.ts'
import { rejectWrongNames } from '../settings/unknown-settings.ts'

/** What creating jobs on rows needs. */
export interface RowsJobDeps extends AdmissionDeps, InputDeps {}

/**
 * Creates a job that trains on rows. An uploaded data set is pinned to its file at once. Any other address is only checked here; the
 * operator fetches it before the job is queued.
 *
 * @throws {HttpError} 404 for a model that is not the caller's, 422 for an address that cannot be trained on, or for a
 * setting outside of `config`
 */
export async function createRowsJob(
  deps: RowsJobDeps,
  { caller, newId }: { caller: Caller; newId: () => string },
  { method, body }: { method: RowsMethod; body: RowsRequest },
): Promise<{ id: string }> {
  const model = await getModel(deps.pool, caller.entity, body.model_id)
  rejectMisplacedSettings(body, method)
  rejectWrongNames(body.config, method)
  const id = newId()
  const job = { ...extractRowsFields(method, body), id, caller, model, inputBytes: null }
  await withInputErrors(async () => {
    const input = await findInput(deps, caller.entity, body.training_data_url)
    await whileHoldingInput(deps, input.inputUri, () => admitJob(deps, { ...job, ...input }))
  })
  return { id }
}

async function findInput(deps: InputDeps, entity: string, address: string) {
  const input = await resolveInput(deps, entity, address)
  if ('remote' in input) return { inputUri: address, inputDigest: null }
  return { inputUri: input.uri, inputDigest: input.digest }
}

/** @throws {HttpError} 422 */
async function withInputErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const reason = error.message
    throw unprocessable(valueError(['body', 'training_data_url'], reason))
  }
}
