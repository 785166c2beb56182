import type { BaseModel } from '../../../crds/generated.ts'
import { optionalEnv } from '../pod/env-vars.ts'
import type { EnvVar } from '../pod/artifacts.ts'
import { readyFile } from '../pod/volumes.ts'

/** Enough to finish a short job, or to save a long one for the next trainer. */
export const trainerGraceSeconds = 60
// The trainer gets less time, so that it ends by itself. torchrun kills its processes between the two times.
const trainerExitSeconds = trainerGraceSeconds - 5
const torchrunGraceSeconds = trainerGraceSeconds - 2

/** Its base model is loaded, and the status server takes its claims. */
export const trainerReadinessProbe = { exec: { command: ['cat', readyFile] }, periodSeconds: 2, failureThreshold: 2 }

/** Several GPUs have one process each. The processes find each other within the pod. */
export function trainerCommand(gpus: number): string[] {
  if (gpus === 1) return ['python', '-m', 'trainyard_trainer']
  const options = ['--nproc-per-node', String(gpus), '--shutdown-timeout', String(torchrunGraceSeconds)]
  return ['torchrun', '--standalone', ...options, '-m', 'trainyard_trainer']
}

/** How many jobs and tokens a trainer handles at once, how often it saves, and how fast it must end. */
export function limitsEnv(trainer: NonNullable<BaseModel['spec']['trainer']>): EnvVar[] {
  return [
    ...optionalEnv('TRAINYARD_MAX_SEQUENCE_LENGTH', trainer.maxSequenceLength),
    ...optionalEnv('TRAINYARD_MAX_BATCH_TOKENS', trainer.maxBatchTokens),
    ...optionalEnv('TRAINYARD_MAX_JOBS', trainer.maxJobs),
    ...optionalEnv('TRAINYARD_CO_BATCH', trainer.coBatch),
    ...optionalEnv('TRAINYARD_SAVE_SECONDS', trainer.saveSeconds),
    { name: 'TRAINYARD_GRACE_SECONDS', value: String(trainerExitSeconds) },
  ]
}
