import { queryOptions } from '@tanstack/react-query'
import { nameView, type SavedView, type ViewDefinition } from '../logic/saved-view.ts'
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
        return type === 'traces' && definition ? [{ name, label: label ?? name, definition }] : []
      })
    },
  })
}

/** Publishes a view under the name that its label has, and returns that name. */
export async function saveView(projectId: string, label: string, definition: ViewDefinition): Promise<string> {
  const name = nameView(label)
  const val = { name, label, view_type: 'traces', definition }
  const obj = { project_id: projectId, object_id: name, val, builtin_object_class: 'SavedView' }
  await callApi('POST /traces/obj/create', { body: { obj } })
  return name
}

export async function deleteView(projectId: string, name: string): Promise<void> {
  await callApi('POST /traces/obj/delete', { body: { project_id: projectId, object_id: name } })
}
