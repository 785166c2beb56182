import { queryOptions } from '@tanstack/react-query'
import { readDefinition, type SavedView } from '../logic/saved-view.ts'
import { callApi } from './client.ts'

/** The saved views of a project's calls. */
export function viewsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['calls', 'views', projectId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<SavedView[]> => {
      const filter = { leaf_object_classes: ['SavedView'], latest_only: true }
      const body = { project_id: projectId, filter, limit: 200 }
      const { objs } = await callApi('POST /traces/objs/query', { body, signal })
      return objs.flatMap(({ object_id: name, val }) => {
        const { label, view_type: type, definition } = (val ?? {}) as Partial<SavedView> & { view_type?: string }
        return type === 'traces' && definition
          ? [{ name, label: label ?? name, definition: readDefinition(definition) }]
          : []
      })
    },
  })
}

/** Publishes a view: a new one, or what a person has changed of it. */
export async function saveView(projectId: string, { name, label, definition }: SavedView): Promise<void> {
  const val = { name, label, view_type: 'traces', definition }
  const obj = { project_id: projectId, object_id: name, val, builtin_object_class: 'SavedView' }
  await callApi('POST /traces/obj/create', { body: { obj } })
}

export async function deleteView(projectId: string, name: string): Promise<void> {
  await callApi('POST /traces/obj/delete', { body: { project_id: projectId, object_id: name } })
}
