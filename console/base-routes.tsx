import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { queryClient } from './data/query-client.ts'
import { sessionQuery } from './data/session.ts'
import { readNext } from './logic/search.ts'
import { NotFound } from './shell/not-found.tsx'
import { ProjectShell } from './shell/project-shell.tsx'
import { EntityShell } from './shell/shell.tsx'
import { Failure } from './parts/state.tsx'

/** Reads the named members of a screen's state from its address. */
export function searchOf<const Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string | undefined } =>
    Object.fromEntries(names.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : []))) as {
      [Key in Name]?: string | undefined
    }
}

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: () => (
    <QueryClientProvider client={queryClient}>
      <Outlet />
    </QueryClientProvider>
  ),
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <Failure error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
  ),
})

/** Everything that needs a session. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/login', search: { next: readNext(location.href) } })
  },
  component: EntityShell,
})

export const project = createRoute({ getParentRoute: () => inside, path: '/$entity/$project', component: ProjectShell })
