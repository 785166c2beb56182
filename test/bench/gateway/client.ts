import { fork } from 'node:child_process'
import { once } from 'node:events'
import { sendAll } from '../connection.ts'

/** The text of a whole request, to be sent so often, so many at a time. */
interface LoadTask {
  url: string
  request: string
  count: number
  connections: number
}

/** Returns the latencies in milliseconds. */
export type SendLoad = (task: LoadTask) => Promise<number[]>

/** Runs the client in a process of its own, so that the other work of the benchmark does not delay it. */
export async function withClient<T>(work: (send: SendLoad) => Promise<T>): Promise<T> {
  const child = fork(import.meta.filename)
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the client of the benchmark ended')))
  ended.catch(() => {})
  try {
    return await work(async (task) => {
      const reported = Promise.race([once(child, 'message'), ended])
      child.send(task)
      const [answer] = (await reported) as [number[] | { error: string }]
      if ('error' in answer) throw new Error(answer.error)
      return answer
    })
  } finally {
    child.kill('SIGKILL')
  }
}

if (import.meta.main) {
  process.on('message', ({ url, request, ...options }: LoadTask) => {
    sendAll(url, [Buffer.from(request)], options).then(
      (latenciesMs) => process.send?.(latenciesMs),
      (error: Error) => process.send?.({ error: error.message }),
    )
  })
}
