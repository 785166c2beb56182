import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { project, searchOf } from './base-routes.tsx'
import { callSearchNames } from './logic/call-search.ts'

const traces = createRoute({
  getParentRoute: () => project,
  path: '/weave/traces',
  validateSearch: searchOf(...callSearchNames),
  component: lazyRouteComponent(() => import('./screens/traces/traces.tsx'), 'TracesScreen'),
})

const calls = createRoute({
  getParentRoute: () => project,
  path: '/weave/calls',
  validateSearch: searchOf(...callSearchNames),
  component: lazyRouteComponent(() => import('./screens/traces/traces.tsx'), 'CallsScreen'),
})

const call = createRoute({
  getParentRoute: () => project,
  path: '/weave/calls/$call',
  validateSearch: searchOf('tab', 'errors', 'path'),
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

/** What `weave.init` prints, `/weave`, leads to the traces. Other addresses of weave say where its calls are. */
const otherTraces = createRoute({
  getParentRoute: () => project,
  path: '/weave/$',
  validateSearch: searchOf(...callSearchNames),
  beforeLoad: ({ params: { _splat: path, ...params }, search }) => {
    if (!path) throw redirect({ to: '/$entity/$project/weave/traces', params, search, replace: true })
    if (path === 'datasets') throw redirect({ to: '/$entity/$project/datasets', params, search: {}, replace: true })
  },
  component: lazyRouteComponent(() => import('./screens/traces/unsupported-path.tsx'), 'UnsupportedPathScreen'),
})

export const tracesRoutes = [traces, calls, call, printedCall, otherTraces] as const
