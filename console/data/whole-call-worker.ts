import { readPreview, type WholeCall } from '../logic/preview.ts'

export type WorkerAnswer = { whole: WholeCall | null } | { fault: string }

function read(bytes: ArrayBuffer): WorkerAnswer {
  try {
    return { whole: readPreview(new TextDecoder().decode(bytes)) }
  } catch (error) {
    return { fault: String(error) }
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
  self.postMessage(read(data))
})
