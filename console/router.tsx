import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { queryClient } from './data/query-client.ts'
import { sessionQuery } from './data/session.ts'
import { parseSearch, readNext, writeSearch } from './logic/search.ts'
import { NotFound } from './shell/not-found.tsx'
import { ProjectShell } from './shell/project-shell.tsx'
import { EntityShell } from './shell/shell.tsx'
import { LoginScreen } from './screens/login/login.tsx'
import { Failure } from './parts/state.tsx'

/** Reads the named members of a screen's state from its address. */
function searchOf<const Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string | undefined } =>
    Object.fromEntries(names.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : []))) as {
      [Key in Name]?: string | undefined
    }
}

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
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

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: searchOf('next'),
  component: LoginScreen,
})

/** Everything that needs a session. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/login', search: { next: readNext(location.href) } })
  },
  component: EntityShell,
})

const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/home/home.tsx'), 'HomeScreen'),
})

const authorize = createRoute({
  getParentRoute: () => inside,
  path: '/authorize',
  component: lazyRouteComponent(() => import('./screens/settings/authorize.tsx'), 'AuthorizeScreen'),
})

/** Programs link to it without knowing the entity. */
const ownSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  beforeLoad: async ({ context }) => {
    const session = await context.queries.ensureQueryData(sessionQuery)
    if (session) throw redirect({ to: '/$entity/settings/keys', params: { entity: session.entity } })
  },
})

const usage = createRoute({
  getParentRoute: () => inside,
  path: '/$entity/usage',
  validateSearch: searchOf('by', 'days', 'measure'),
  component: lazyRouteComponent(() => import('./screens/usage/usage.tsx'), 'UsageScreen'),
})

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/$entity/settings',
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'SettingsScreen'),
})

const firstSettings = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/$entity/settings/keys', params })
  },
})

const keys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  component: lazyRouteComponent(() => import('./screens/settings/keys.tsx'), 'KeysTab'),
})

const limits = createRoute({
  getParentRoute: () => settings,
  path: '/limits',
  component: lazyRouteComponent(() => import('./screens/settings/limits.tsx'), 'LimitsTab'),
})

const webhooks = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks',
  validateSearch: searchOf('hook'),
  component: lazyRouteComponent(() => import('./screens/settings/webhooks.tsx'), 'WebhooksTab'),
})

const project = createRoute({ getParentRoute: () => inside, path: '/$entity/$project', component: ProjectShell })

const overview = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/overview/overview.tsx'), 'OverviewScreen'),
})

const runs = createRoute({
  getParentRoute: () => project,
  path: '/runs',
  validateSearch: searchOf('q', 'sort', 'base', 'pick', 'cols'),
  component: lazyRouteComponent(() => import('./screens/runs/runs.tsx'), 'RunsScreen'),
})

const compare = createRoute({
  getParentRoute: () => project,
  path: '/compare',
  validateSearch: searchOf('runs', 'q'),
  component: lazyRouteComponent(() => import('./screens/compare/compare.tsx'), 'CompareScreen'),
})

const run = createRoute({
  getParentRoute: () => project,
  path: '/runs/$run',
  component: lazyRouteComponent(() => import('./screens/run/run.tsx'), 'RunScreen'),
})

const charts = createRoute({
  getParentRoute: () => run,
  path: '/',
  validateSearch: searchOf('q', 'from', 'to', 'x'),
  component: lazyRouteComponent(() => import('./screens/run/charts.tsx'), 'ChartsTab'),
})

const trajectories = createRoute({
  getParentRoute: () => run,
  path: '/trajectories',
  validateSearch: searchOf('step', 'split', 'order', 'peek', 'scenario', 'q', 'cols', 'since'),
  component: lazyRouteComponent(() => import('./screens/run/trajectories.tsx'), 'TrajectoriesTab'),
})

const checkpoints = createRoute({
  getParentRoute: () => run,
  path: '/checkpoints',
  component: lazyRouteComponent(() => import('./screens/run/checkpoints.tsx'), 'CheckpointsTab'),
})

const runJobs = createRoute({
  getParentRoute: () => run,
  path: '/jobs',
  validateSearch: searchOf('state'),
  component: lazyRouteComponent(() => import('./screens/run/jobs.tsx'), 'JobsTab'),
})

const trajectory = createRoute({
  getParentRoute: () => project,
  path: '/runs/$run/trajectories/$trajectory',
  validateSearch: searchOf('overlay', 'diff'),
  component: lazyRouteComponent(() => import('./screens/trajectory/trajectory.tsx'), 'TrajectoryScreen'),
})

const playground = createRoute({
  getParentRoute: () => project,
  path: '/playground',
  validateSearch: searchOf('m', 'prompt', 'system', 't', 'max', 'seed', 'overlay', 'run', 'trajectory', 'turn'),
  component: lazyRouteComponent(() => import('./screens/playground/playground.tsx'), 'PlaygroundScreen'),
})

const call = createRoute({
  getParentRoute: () => project,
  path: '/weave/calls/$call',
  validateSearch: searchOf('tab', 'errors'),
  component: lazyRouteComponent(() => import('./screens/call/call.tsx'), 'CallScreen'),
})

/** What the SDKs print for a traced call. */
const printedCall = createRoute({
  getParentRoute: () => project,
  path: '/r/call/$call',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/$entity/$project/weave/calls/$call', params, replace: true })
  },
})

const job = createRoute({
  getParentRoute: () => project,
  path: '/jobs/$job',
  validateSearch: searchOf('attempt'),
  component: lazyRouteComponent(() => import('./screens/job/job.tsx'), 'JobScreen'),
})

const routeTree = root.addChildren([
  login,
  inside.addChildren([
    home,
    authorize,
    ownSettings,
    usage,
    settings.addChildren([firstSettings, keys, limits, webhooks]),
    project.addChildren([
      overview,
      runs,
      compare,
      run.addChildren([charts, trajectories, checkpoints, runJobs]),
      trajectory,
      playground,
      call,
      printedCall,
      job,
    ]),
  ]),
])

export const router = createRouter({
  routeTree,
  context: { queries: queryClient },
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
