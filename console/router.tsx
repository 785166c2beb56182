import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { inside, project, root, searchOf } from './base-routes.tsx'
import { basePath } from './data/base.ts'
import { queryClient } from './data/query-client.ts'
import { sessionQuery } from './data/session.ts'
import { parseSearch, writeSearch } from './logic/search.ts'
import { LoginScreen } from './screens/login/login.tsx'
import { tracesRoutes } from './traces-routes.tsx'

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: searchOf('next'),
  component: LoginScreen,
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

const overview = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/overview/overview.tsx'), 'OverviewScreen'),
})

const runs = createRoute({
  getParentRoute: () => project,
  path: '/runs',
  validateSearch: searchOf('q', 'sort', 'base', 'pick', 'cols', 'pin'),
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
  validateSearch: searchOf('cols'),
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
  validateSearch: searchOf('overlay', 'diff', 'calls'),
  component: lazyRouteComponent(() => import('./screens/trajectory/trajectory.tsx'), 'TrajectoryScreen'),
})

const dataSets = createRoute({
  getParentRoute: () => project,
  path: '/datasets',
  validateSearch: searchOf('q', 'peek'),
  component: lazyRouteComponent(() => import('./screens/datasets/datasets.tsx'), 'DataSetsScreen'),
})

const playground = createRoute({
  getParentRoute: () => project,
  path: '/playground',
  validateSearch: searchOf('m', 'prompt', 'system', 't', 'max', 'seed', 'overlay', 'run', 'trajectory', 'turn'),
  component: lazyRouteComponent(() => import('./screens/playground/playground.tsx'), 'PlaygroundScreen'),
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
      dataSets,
      playground,
      ...tracesRoutes,
      job,
    ]),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: basePath,
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
