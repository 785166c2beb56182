import type { Worker } from 'node:cluster'
import { PermitLedger } from '../accounts/limits/permits/permit-ledger.ts'
import type { PermitAnswer } from '../accounts/limits/permits/messages.ts'
import { isProcessMessage } from './messages.ts'

/** Answers the requests of processes for permits, and releases the permits of a process that ends. */
export function sharePermits(): (worker: Worker) => void {
  const workers = new Map<number, Worker>()
  const ledger = new PermitLedger(
    (id, answer: PermitAnswer) => void workers.get(id)?.send({ permits: answer }, () => {}),
  )
  return (worker) => {
    workers.set(worker.id, worker)
    worker.on('message', (message: unknown) => {
      // A message may arrive after the end of its process.
      if (!workers.has(worker.id) || !isProcessMessage(message) || !('permits' in message)) return
      ledger.receive(worker.id, message.permits)
    })
    worker.once('exit', () => {
      workers.delete(worker.id)
      ledger.removeProcess(worker.id)
    })
  }
}
