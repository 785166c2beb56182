import { parseText } from '../../lib/json/parse-text.ts'
import { rawList } from '../../lib/json/raw.ts'
import type { ThreadFunction } from '../../lib/worker-threads/program.ts'
import type { Item } from './read-exchange.ts'
import { readHistories } from './read-histories.ts'

/** A stored trajectory as bytes, and the name of its model. */
export interface HistoriesTask {
  payload: Uint8Array
  model: string
}

// A prompt may be in many histories. Usually, histories have a fraction of the bytes of their exchanges.
const maxBytes = 32 * 1024 * 1024

/** The JSON text of the list of histories: the first ones, up to 32 MiB. */
export function writeList({ payload, model }: HistoriesTask): Uint8Array {
  const written: string[] = []
  let left = maxBytes
  for (const history of readHistories(parseText(Buffer.from(payload).toString()) as Item, model)) {
    const text = JSON.stringify(history)
    left -= Buffer.byteLength(text)
    if (left < 0) break
    written.push(text)
  }
  return Uint8Array.from(Buffer.from(rawList(written)))
}

export default { run: writeList, listTransfers: ({ buffer }) => [buffer as ArrayBuffer] } satisfies ThreadFunction<
  HistoriesTask,
  Uint8Array
>
