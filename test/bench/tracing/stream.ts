import type { BenchServer } from '../bench-server.ts'
import { round } from '../result.ts'
import type { FilledProject } from './fill.ts'
import { readMemoryMb } from './processor.ts'
import type { Reader } from './reader.ts'

const sampleEveryMs = 50

/** Reads a whole project in one request, twice. Measures the speed and the server's memory. */
export async function measureStream(
  { pid }: BenchServer,
  reader: Reader,
  { projectId, calls }: FilledProject,
): Promise<Record<string, number>> {
  // The first read brings the process to its working memory.
  for (let lines = 0; lines < Math.min(calls, 100_000);) {
    lines += (await reader.read('/calls/stream_query', { project_id: projectId, limit: 20_000 })).lines
  }
  const startMb = readMemoryMb(pid)
  let highestMb = startMb
  const sampling = setInterval(() => (highestMb = Math.max(highestMb, readMemoryMb(pid))), sampleEveryMs)
  const { lines, totalMs, bytes } = await reader.read('/calls/stream_query', { project_id: projectId })
  clearInterval(sampling)
  if (lines !== calls) throw new Error(`a stream of ${calls} calls had ${lines} lines`)
  return {
    stream_rows: lines,
    stream_rows_per_s: round((lines / totalMs) * 1000),
    stream_mb_per_s: round(bytes / totalMs / 1000),
    stream_memory_before_mb: round(startMb),
    stream_memory_rise_mb: round(highestMb - startMb),
  }
}
