import { parseBody } from '../../middleware/body.ts'
import { parseTrainingJobCreate, pickGivenConfig } from './schema.ts'

/** A checked request for a training job. */
export interface TrainingJobRequest {
  modelId: string
  /** What is trained on, as it is stored. */
  payload: Uint8Array
  /** Wire names, only what was given. */
  config: Record<string, unknown>
}

/**
 * Parses and checks the body of a request for a training job. The payload keeps the trajectories' exact bytes: numbers
 * lose nothing, and equal bodies are stored once.
 *
 * @throws {Refusal} 422 with the faults
 */
export function readTrainingJobRequest(bytes: Uint8Array): TrainingJobRequest {
  const document = parseBody(bytes)
  const { model_id, experimental_config } = parseTrainingJobCreate(document)
  const groups = document.members.get('trajectory_groups')!
  const payload = Buffer.concat([Buffer.from('{"trajectory_groups":'), groups, Buffer.from('}')])
  return { modelId: model_id, payload, config: pickGivenConfig(experimental_config) }
}
