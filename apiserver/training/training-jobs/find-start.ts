import { reasons } from '../../../crds/names.ts'
import type { QueueDeps } from '../../../db/jobs/queue-blocks.ts'
import { readStartEvidence, readTrainerLine } from '../../../db/jobs/start-evidence.ts'
import type { JobView } from '../../../db/jobs/views.ts'
import { estimateStart } from './estimate-start.ts'
import type { Waiting } from './waiting.ts'

// Other reasons last until somebody does something.
const passing = new Set<string>([reasons.waitingForTrainer, reasons.waitingForModel, reasons.waitingForPod])
const lasting = new Set(['Pending', 'Suspending', 'Suspended'])

/** When a waiting job probably starts, estimated from past jobs. Null if that depends on more than other jobs. */
export async function findStart(deps: QueueDeps, job: JobView, { reason, holder }: Waiting): Promise<Date | null> {
  if (!job.queue || !passing.has(reason) || lasting.has(holder?.state ?? '')) return null
  const seconds = estimateStart(await readLine(deps, job, job.queue), await readStartEvidence(deps.pool, job.id))
  return seconds === undefined ? null : new Date(Date.now() + seconds * 1000)
}

async function readLine(deps: QueueDeps, { id, mode }: JobView, { ahead, position }: NonNullable<JobView['queue']>) {
  if (ahead === 0 || mode === 'Dedicated') return { mode, ahead, position, others: 0 }
  const line = await readTrainerLine(deps, id)
  return { mode, ahead, position: line.ofModel, others: line.length - (line.ofModel === null ? 0 : 1) }
}
