import type { InvalidatingConnection } from '../changes.ts'
import { recordAct } from './audit-log.ts'

/** Sets which project records the chats of an entity's own key. False where there is no such key. */
export async function saveKeyTraceProject(
  connection: InvalidatingConnection,
  { entity, id, by }: { entity: string; id: string; by: string },
  traceProject: string | null,
): Promise<boolean> {
  const { rowCount } = await connection.query(
    'UPDATE auth.api_keys SET trace_project = $3 WHERE entity = $1 AND id = $2',
    [entity, id, traceProject],
  )
  if (rowCount === 0) return false
  const details = { trace_project: traceProject }
  await recordAct(connection, { entity, actor: by, action: 'trace_project.set', subject: id, details })
  return true
}
