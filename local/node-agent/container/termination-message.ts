import { open } from 'node:fs/promises'
import path from 'node:path'
import type { Container } from '../objects.ts'
import { readTail } from './logs.ts'
import type { Mount } from '../volumes/mounts.ts'
import type { Run } from './run.ts'

// Kubernetes' limits.
const maxMessageBytes = 4096
const maxLogBytes = 2048
const logLines = 80

/**
 * A mount for the container's terminationMessagePath. A program that gets this path from a variable or argument writes
 * to this file.
 */
export function locateTerminationMessage(container: Container, runFolder: string): Mount {
  return {
    mountPath: container.terminationMessagePath ?? '/dev/termination-log',
    realPath: path.join(runFolder, 'termination-log'),
  }
}

/**
 * Reads a run's termination message. If a failed run has none, the policy may replace it by the end of the log.
 */
export async function readTerminationMessage(container: Container, run: Run): Promise<string> {
  const written = await readStart(path.join(run.folder, 'termination-log'))
  const wantsLog = container.terminationMessagePolicy === 'FallbackToLogsOnError' && run.exit?.code !== 0
  return written || !wantsLog ? written : (await readTail(run.folder, logLines)).slice(-maxLogBytes)
}

async function readStart(file: string): Promise<string> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (!handle) return ''
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxMessageBytes), 0, maxMessageBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
