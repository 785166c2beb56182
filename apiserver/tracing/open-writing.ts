import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { Admission } from '../accounts/limits/admission.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { StorageUse } from '../accounts/limits/storage.ts'
import { CallWriter } from './calls/writer.ts'
import { ChatRecorder } from './chats/chat-recorder.ts'
import type { WriteDeps } from './chats/write-chat.ts'
import { Projects } from './projects.ts'

interface SharedParts {
  admission: Admission
  artifacts: ArtifactStore
  log: Logger
  memory: RequestMemory
  storage: StorageUse
  /** For writing calls and finding projects. Readers do not use it, so they cannot block writes. */
  traceWrites: Pool
}

/** The parts that write traces. Servers without the tracing group need them too, to record chats. */
export interface TraceWriting {
  writing: WriteDeps
  chats: ChatRecorder
}

export function openTraceWriting({
  admission,
  artifacts,
  log,
  memory,
  storage,
  traceWrites,
}: SharedParts): TraceWriting {
  const writing = {
    // Every write first looks up its project, so this must not wait for the readers' pool.
    projects: new Projects(traceWrites),
    calls: new CallWriter(traceWrites, artifacts),
    storage,
  }
  return { writing, chats: new ChatRecorder({ ...writing, admission, memory, log }) }
}
