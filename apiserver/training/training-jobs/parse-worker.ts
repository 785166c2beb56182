import { parentPort, workerData } from 'node:worker_threads'
import { Refusal } from '../../refusal.ts'
import { readTrainingJobRequest, type TrainingJobRequest } from './request.ts'

/** What the worker sends back: the request, or why it is refused. */
export type ParseResult = { request: TrainingJobRequest } | { refused: Pick<Refusal, 'status' | 'detail'> }

function parse(bytes: Uint8Array): ParseResult {
  try {
    return { request: readTrainingJobRequest(bytes) }
  } catch (error) {
    if (error instanceof Refusal) return { refused: { status: error.status, detail: error.detail } }
    throw error
  }
}

const noTransfer: [] = []
parentPort!.postMessage(parse(workerData as Uint8Array), noTransfer)
