import { listHistories, type StoredTrajectory } from '../logic/histories.ts'
import { readPreview, type WholeCall } from '../logic/preview.ts'
import { diffConversations, type Difference } from '../logic/trajectory-diff.ts'

/** What takes too long for a page: each task has its result. The bytes are answers of the API. */
export interface Tasks {
  /** Parses a call, and cuts it to what a page can show. */
  call: { given: [ArrayBuffer]; result: WholeCall | null }
  /** Parses two trajectories, and compares their conversations. The result has the trajectories without these. */
  difference: { given: [ArrayBuffer, ArrayBuffer]; result: { a: object; b: object; difference: Difference } }
}

export type Task = { [Name in keyof Tasks]: { name: Name; given: Tasks[Name]['given'] } }[keyof Tasks]

export type WorkerAnswer = { result: unknown } | { fault: string }

const decode = (bytes: ArrayBuffer) => new TextDecoder().decode(bytes)

function run(task: Task): Tasks[Task['name']]['result'] {
  if (task.name === 'call') return readPreview(decode(task.given[0]))
  const [a, b] = task.given.map(readTrajectory)
  const difference = diffConversations(a!.items, b!.items)
  return { a: a!.row, b: b!.row, difference }
}

function readTrajectory(bytes: ArrayBuffer): { row: object; items: unknown } {
  const { trajectory, histories, ...row } = JSON.parse(decode(bytes)) as StoredTrajectory
  return { row, items: listHistories({ trajectory, ...(histories && { histories }) }).flat() }
}

function answer(task: Task): WorkerAnswer {
  try {
    return { result: run(task) }
  } catch (error) {
    return { fault: String(error) }
  }
}

self.addEventListener('message', ({ data }: MessageEvent<Task>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
  self.postMessage(answer(data))
})
