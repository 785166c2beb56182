import { parentPort } from 'node:worker_threads'
import { checkValue, type CheckTask } from './check-value.ts'

const noTransfer: [] = []
const port = parentPort!
port.on('message', (task: CheckTask) => port.postMessage(checkValue(task), noTransfer))
