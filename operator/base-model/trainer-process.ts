import type { BaseModel } from '../../crds/generated.ts'
import { optionalEnv } from './env-vars.ts'
import type { EnvVar } from './pod-artifacts.ts'

/** Enough to finish a short job, or to save a long one, which the next trainer then goes on with. */
export const trainerGraceSeconds = 60
// What a trainer is told stays below, so that it leaves by itself; torchrun kills its processes between the two.
const graceToldSeconds = trainerGraceSeconds - 5
const torchrunGraceSeconds = trainerGraceSeconds - 2

/** One process per GPU where there are several; they find each other within the pod. */
export function trainerCommand(gpus: number): string[] {
  if (gpus === 1) return ['python', '-m', 'trainyard_trainer']
  const options = ['--nproc-per-node', String(gpus), '--shutdown-timeout', String(torchrunGraceSeconds)]
  return ['torchrun', '--standalone', ...options, '-m', 'trainyard_trainer']
}

/** What a trainer may take on at once, and how long it may go without saving or leaving. */
export function limitsEnv(trainer: NonNullable<BaseModel['spec']['trainer']>): EnvVar[] {
  return [
    ...optionalEnv('TRAINYARD_MAX_SEQUENCE_LENGTH', trainer.maxSequenceLength),
    ...optionalEnv('TRAINYARD_MAX_BATCH_TOKENS', trainer.maxBatchTokens),
    ...optionalEnv('TRAINYARD_MAX_JOBS', trainer.maxJobs),
    ...optionalEnv('TRAINYARD_CO_BATCH', trainer.coBatch),
    ...optionalEnv('TRAINYARD_SAVE_SECONDS', trainer.saveSeconds),
    { name: 'TRAINYARD_GRACE_SECONDS', value: String(graceToldSeconds) },
  ]
}
