import { Type } from 'typebox'
import type { Attempt, ReportOutcome } from '../../db/jobs/attempts.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import type { PathParams } from '../../lib/http/operation.ts'
import type { CallingPod } from './auth.ts'
import { errors } from './errors.ts'

export const attemptPath = '/v1/jobs/{id}/attempts/{attempt}'
export const tag = 'Trainers'
/** What all operations on attempts share. */
export const attemptOperation = { tag, answer: Type.Object({}) }

export function readAttempt({ id, attempt }: PathParams<typeof attemptPath>, pod: CallingPod): Attempt {
  return { jobId: id, attempt: Number(attempt), podUid: pod.uid }
}

/** The answer to a recorded report. @throws {HttpError} 409 if the attempt no longer holds the job */
export function requireHeld(outcome: ReportOutcome): Record<string, never> {
  if (outcome === 'fenced') throw new HttpError(errors.fenced)
  return {}
}
