import { Worker } from 'node:worker_threads'
import { createLimiter } from '../../limiter.ts'
import { Refusal } from '../../refusal.ts'
import type { ParseResult } from './parse-worker.ts'
import { readTrainingJobRequest, type TrainingJobRequest } from './request.ts'

// Parsing 2 MiB takes some 50 ms, in which no other request is answered; starting a worker takes longer.
const inPlaceUpToBytes = 2 * 1024 * 1024
const maxWorkers = 2
const timeoutMs = 60_000

const limit = createLimiter(maxWorkers)

/**
 * Parses a training job's body, a large one in a thread of its own: chats go on meanwhile, and a body that takes more
 * memory than there is ends that thread and nothing else.
 *
 * @throws {Refusal} 422 with the faults, 413 for a body that takes too much to parse
 */
export async function parseRequest(bytes: Buffer): Promise<TrainingJobRequest> {
  if (bytes.length <= inPlaceUpToBytes) return readTrainingJobRequest(bytes)
  const result = await limit(() => parseInWorker(bytes))
  if ('refused' in result) throw new Refusal(result.refused.status, result.refused.detail)
  return result.request
}

async function parseInWorker(bytes: Buffer): Promise<ParseResult> {
  const worker = new Worker(new URL('parse-worker.ts', import.meta.url), {
    workerData: bytes,
    transferList: [bytes.buffer as ArrayBuffer],
  })
  const timer = setTimeout(() => void worker.terminate(), timeoutMs)
  try {
    return await waitForResult(worker)
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

function waitForResult(worker: Worker): Promise<ParseResult> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new Refusal(413, 'The body has too many parts to be taken in at once.'))
    worker.once('message', resolve)
    worker.once('exit', refuse)
    worker.once('error', (error) => {
      if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') refuse()
      else reject(error)
    })
  })
}
