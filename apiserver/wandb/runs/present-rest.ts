import { isObject } from '../../../lib/json/is-object.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import type { ListedRun } from '../../../db/runs/rest-list.ts'

export function presentListedRun(run: ListedRun) {
  return {
    id: run.id,
    entity: run.entity,
    project: run.project,
    name: run.name,
    display_name: run.displayName ?? run.name,
    notes: run.notes,
    group: run.groupName,
    job_type: run.jobType,
    tags: run.tags,
    state: run.state,
    exit_code: run.exitCode,
    created_at: run.createdAt.toISOString(),
    heartbeat_at: run.heartbeatAt.toISOString(),
    finished_at: run.finishedAt?.toISOString() ?? null,
    history_lines: run.historyLines + run.serviceLines,
    last_step: run.lastStep,
    model_id: run.modelId,
  }
}

/** The values of a config as they were set, without what the SDK keeps there for itself. */
export function presentConfig(config: string): Record<string, unknown> {
  const entries = Object.entries(parseText(config) as Record<string, unknown>).filter(([key]) => key !== '_wandb')
  return Object.fromEntries(
    entries.map(([key, value]) => [key, isObject(value) && 'value' in value ? value['value'] : value]),
  )
}
