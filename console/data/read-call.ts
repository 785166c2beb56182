import { readPreview, type WholeCall } from '../logic/preview.ts'
import { ApiError, sendTo } from './client.ts'
import { runInWorker } from './run-in-worker.ts'

// A page parses so much in a few milliseconds.
const maxBytesHere = 256 * 1024

/**
 * Reads a call. A worker parses and cuts a large one: 20 MB of JSON would stop the page for a second.
 *
 * @throws {ApiError}
 */
export async function readCall(body: { project_id: string; id: string }, signal: AbortSignal): Promise<WholeCall> {
  const response = await sendTo('POST', '/traces/call/read', { ...body, include_costs: true }, signal)
  const bytes = await response.arrayBuffer()
  const isSmall = bytes.byteLength <= maxBytesHere
  const whole = isSmall ? readPreview(new TextDecoder().decode(bytes)) : await runInWorker('call', [bytes], signal)
  if (!whole) throw new ApiError(404, 'There is no such call.')
  return whole
}
